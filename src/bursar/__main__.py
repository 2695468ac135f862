"""``python -m bursar``."""

from bursar.cli.main import main

main()
