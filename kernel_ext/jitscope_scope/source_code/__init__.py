"""The user's source as text and syntax tree: what its names mean, and what an expression could be written as. Nothing here runs it."""
