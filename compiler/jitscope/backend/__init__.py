"""From jaxprs to running programs: lowering, compilation, caches, arrays, dispatch."""
