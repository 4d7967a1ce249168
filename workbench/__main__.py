"""`python -m workbench`."""

import sys

try:
    from workbench.cli.main import main
except KeyboardInterrupt:
    sys.exit(130)

main()
