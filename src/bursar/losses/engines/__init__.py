"""Two engines that answer for any composition, and how they meet."""
