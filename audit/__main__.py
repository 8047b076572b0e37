"""`python -m audit` is the command line."""

import sys

from audit.cli import main

sys.exit(main())
