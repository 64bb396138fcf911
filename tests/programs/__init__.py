"""Four programs of the size and the kinds people have, to judge views by: `program` and `arguments()` of each module."""
