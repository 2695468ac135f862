"""One law one file: each says its density, its moments, and what the engines ask of it."""
