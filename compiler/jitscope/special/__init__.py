"""What is composed of the primitives by looping: associative_scan, custom_root, and special functions, each a primitive."""
