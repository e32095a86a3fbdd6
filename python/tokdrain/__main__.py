"""python -m tokdrain COMMAND ...: the command line (docs/cli.md)."""
import os
import sys

from tokdrain.endpoints.metrics_aggregator import find_program


def main():
    try:
        program = find_program()
        os.execv(program, [program, *sys.argv[1:]])
    except (LookupError, OSError) as error:
        print(f"tokdrain: the program cannot be started: {error}", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
