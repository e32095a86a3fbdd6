"""The metrics aggregator as a module: becomes `tokdrain aggregate` with the same arguments.

    python -m tokdrain.endpoints.metrics_aggregator --socket-dir DIR --socket-name NAME ...

The process stays the same one, so signals, exit status and output are the program's. It is the
first of these that is there: the program that came with this package, the one that the
environment's TOKDRAIN_BIN names, `tokdrain` on the PATH."""
import os
import shutil
import sys
from pathlib import Path

NAME = "tokdrain.endpoints.metrics_aggregator"
PACKAGE = Path(__file__).resolve().parent.parent


def is_program(path):
    return os.path.isfile(path) and os.access(path, os.X_OK)


def find_program():
    """The program's path. LookupError says where it was looked for."""
    beside = PACKAGE / "bin" / "tokdrain"
    if is_program(beside):
        return str(beside)
    named = os.environ.get("TOKDRAIN_BIN")
    if named:
        if is_program(named):
            return named
        raise LookupError(f"TOKDRAIN_BIN={named} is no program that can be run")
    found = shutil.which("tokdrain")
    # the package's own script of that name only leads back here
    if found and not os.path.samefile(found, sys.argv[0] or os.curdir):
        return found
    raise LookupError(f"there is no program at {beside}, TOKDRAIN_BIN is not set, and no tokdrain "
                      f"{'but this script ' if found else ''}is on the PATH")


def main():
    try:
        program = find_program()
        os.execv(program, [program, "aggregate", *sys.argv[1:]])
    except (LookupError, OSError) as error:
        sys.exit(f"FATAL: {NAME}: the tokdrain program cannot be started: {error}")


if __name__ == "__main__":
    main()
