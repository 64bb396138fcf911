"""Two programs against each other: `sides` (what is compared), `pairing` (which is faster, with a confidence interval), `aligning` (what
they have in common), `joint` (both as one graph), `results` (how far their results are apart), `document` (all of it as plain data)."""
