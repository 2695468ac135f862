"""One verb one file: what is asked, what it decides, what it answers."""
