"""The shell: pytest and the command line.  Only here is pytest imported.

`plugin` is the entry and decides whether a session evaluates, `hooks` translates, `session`
decides, `refusal` ends a session in which nothing can be evaluated, `cli` is the console script.
"""
