"""One file with everything that a report is made of, and making the report from it again."""
