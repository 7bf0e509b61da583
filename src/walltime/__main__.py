"""`python -m walltime`: the same as the command `walltime`."""

import os
import sys

if not sys.flags.safe_path and sys.path and sys.path[0] == os.getcwd():
    del sys.path[0]  # a folder that somebody works in may hold files of strangers; -m would import from it first

from walltime.cli.main import main

if __name__ == "__main__":
    main()
