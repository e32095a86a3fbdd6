"""What several benches need: programs, the processor's name, the Python with the peers."""
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path


def run(command):
    """The output of a program, which must succeed."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"bench: {' '.join(map(str, command))} failed ({done.returncode}):\n"
                 f"{done.stderr}")
    return done.stdout


def processor():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def python_with_peers(given, build):
    """The Python program that has the libraries to compare with: the one that is given, or that
    TD_PEERS names, or the one of make bench's set-up, which may be absent."""
    named = given or os.environ.get("TD_PEERS")
    if not named:
        return str(Path(build) / "bench" / "peers" / "bin" / "python")
    if os.path.isdir(named):
        sys.exit(f"bench: {named} is a folder: TD_PEERS must name a Python program, "
                 f"{os.path.join(named, 'bin', 'python')} for example")
    if shutil.which(named) is None:
        sys.exit(f"bench: {named}, the Python with the peers, is no program that can be run")
    return shutil.which(named)
