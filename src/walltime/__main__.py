"""`python -m walltime`: the same as the command `walltime`."""

from walltime.cli.main import main

if __name__ == "__main__":
    main()
