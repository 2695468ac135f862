"""The contour engine: δ(ε) of smooth compositions by one short sum in the complex plane, at a cost that does not grow
with the counts.
"""
