"""Whether a report still comes out: what it was made of against what is here, and made again."""
