"""Compositions ordered by their largest loss: where no single tilt serves both small losses and rare large ones."""
