"""Many plans of private training at once: contours of sampled Gaussians as rows of arrays."""
