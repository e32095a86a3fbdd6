"""python -m tokdrain COMMAND ...: the command line (docs/cli.md), and `count` of Parquet files."""
import os
import sys

from tokdrain import _count_command
from tokdrain.endpoints.metrics_aggregator import find_program


def main():
    if _count_command.is_for_parquet(sys.argv[1:]):
        return _count_command.main(sys.argv[2:])
    try:
        program = find_program()
        os.execv(program, [program, *sys.argv[1:]])
    except (LookupError, OSError) as error:
        print(f"tokdrain: the program cannot be started: {error}", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
