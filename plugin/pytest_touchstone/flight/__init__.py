"""The flight: the one place where things happen at the same time.

`threads` runs blocking code off the loop, `endpoint` holds limits and retries of a server,
`lane` calls one system, `observe` turns calls into an observation, `flight` runs the plan.
"""
