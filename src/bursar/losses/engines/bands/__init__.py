"""The bands engine: laws on grids that grow coarser with the loss, for sums in which a few large losses decide among
many small ones.
"""
