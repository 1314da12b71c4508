"""The collection: chunks in a file, their vectors, and Qdrant to search and count in.

`chunks` reads the file, `embedder` makes vectors, `vectors` keeps them, `collection` is Qdrant.
"""
