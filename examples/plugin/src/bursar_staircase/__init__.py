"""The staircase mechanism and Bernstein's bound, for bursar."""
