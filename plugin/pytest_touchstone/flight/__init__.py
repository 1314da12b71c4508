"""The flight: the one place where things happen at the same time.

`threads` runs blocking code off the loop, `endpoint` holds limits and retries of a server,
`lane` calls one system, `observe` turns calls into an observation, `reading` puts it to judge and
scorer, `measuring` makes scores of it, `flight` runs the plan, `arrivals` says what is done of it.
"""
