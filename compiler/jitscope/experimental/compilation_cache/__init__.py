"""Where JAX keeps the names of its cache on disk."""
