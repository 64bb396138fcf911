"""Sharp bits that a trace or a run shows: errors, compilations, what was traced, what ran."""
