"""`python -m audit` is the command line."""

import sys

from audit.apps.cli import main

sys.exit(main())
