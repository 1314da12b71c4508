"""How well a source covers a paragraph, as a cross-encoder behind a server says.

`protocol` is what a scorer gives, `client` the one behind a server, `probe` what it finds out at
the start, `wire` one request.  Pure: `dialects` are the servers' formats, `scale` what their values
mean, `pairs` the texts that decide it, `windows` how a long source is read.
"""
