"""Every header compiles alone, public ones also as C++: it includes what it uses."""
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = sorted(p.name for p in (ROOT / "include" / "tokdrain").glob("*.h"))
PRIVATE = sorted(str(p.relative_to(ROOT / "src")) for p in (ROOT / "src").rglob("*.h"))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]


def compile_alone(tmp_path, command, line, suffix, folders):
    source = tmp_path / ("alone" + suffix)
    source.write_text(line + "\nint header_alone;\n")
    include = [f"-I{ROOT / f}" for f in folders]
    done = subprocess.run([*command, *WARNINGS, *include, str(source)], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", PUBLIC)
def test_public_header_alone(tmp_path, name):
    compile_alone(tmp_path, [os.environ.get("CC", "cc"), "-std=c17"],
                  f"#include <tokdrain/{name}>", ".c", ["include"])


@pytest.mark.parametrize("name", PUBLIC)
def test_public_header_as_cpp(tmp_path, name):
    cpp = shutil.which("c++")
    if cpp is None:
        pytest.skip("no C++ compiler")
    compile_alone(tmp_path, [cpp, "-std=c++17"], f"#include <tokdrain/{name}>", ".cc",
                  ["include"])


@pytest.mark.parametrize(("compiler", "suffix"), [("cc -std=c17", ".c"), ("c++ -std=c++17", ".cc")])
def test_macros_in_both_languages(tmp_path, compiler, suffix):
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"no {compiler.split()[0]}")
    source = ("#include <tokdrain/tokdrain.h>\ntd_error made(void);\ntd_str text(void);\n"
              "td_error made(void) { td_error err = TD_ERROR_INIT; return err; }\n"
              "td_str text(void) { return TD_STR(\"text\"); }")
    compile_alone(tmp_path, compiler.split(), source, suffix, ["include"])


@pytest.mark.parametrize("name", PRIVATE)
def test_private_header_alone(tmp_path, name):
    command = [os.environ.get("CC", "cc"), "-std=c17", "-D_POSIX_C_SOURCE=200809L"]
    if name.startswith("python/"):
        python = Path(sysconfig.get_path("include"))
        if not (python / "Python.h").exists():
            pytest.skip("the headers of Python are not installed")
        command += ["-DPy_LIMITED_API=0x030A0000", "-isystem", str(python)]
    compile_alone(tmp_path, command, f'#include "{name}"', ".c", ["include", "src"])
