"""``python -m mbdy``: the same commands as ``mbdy``."""

from mbdy.app import main

if __name__ == "__main__":
    main()
