"""Recompilations: rows of the ledger in groups of one function and cause, what their history shows, and what would spare them."""
