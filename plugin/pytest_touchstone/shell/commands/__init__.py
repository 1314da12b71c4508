"""The sub-commands of the console script, one module each.

A module's ``add`` describes its command to the parser and names the function that carries it out,
which is given the parsed options and returns the exit code.
"""
