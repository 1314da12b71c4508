"""The base of every error that ends an evaluation before it starts."""


class Unusable(Exception):  # noqa: N818 - says of a thing what it is
    """Something that the evaluation needs is missing or faulty.

    The message is for the person who can mend it: what is wrong, where, what to do.
    """
