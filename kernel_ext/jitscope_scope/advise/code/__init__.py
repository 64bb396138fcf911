"""Python code as the static look sees it: what names mean, which functions are traced, what expressions give. Nothing is run."""
