"""The store: the one place where processes meet and where results outlive them.

`tables` is the public schema, `engine` the connections and the one writer thread, `run` what a
run's processes write and claim, `rows` how a finished run is read back for its report.
"""
