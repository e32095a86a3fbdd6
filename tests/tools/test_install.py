"""What make install puts in place serves a C program that knows only pkg-config."""
import os
import subprocess

import pytest

SOURCE = """#include <stdio.h>
#include <tokdrain/base.h>
int main(void) { puts(td_version()); return td_code_name(TD_E_INPUT)[0] != 'i'; }
"""


@pytest.fixture(scope="module")
def installed(build_dir, tmp_path_factory):
    top = tmp_path_factory.mktemp("installed")
    done = subprocess.run(["meson", "install", "-C", build_dir, "--no-rebuild", "--destdir", top],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(top.rglob("tokdrain.pc")), top


def test_files(installed):
    _, top = installed
    names = {p.name for p in top.rglob("*") if p.is_file()}
    assert {"libtokdrain.a", "base.h", "tokdrain.pc", "tokdrain.1"} <= names
    assert any(n.startswith("libtokdrain.so.0") for n in names)


@pytest.mark.parametrize("static", [False, True])
def test_program_builds_and_runs(installed, build_dir, tmp_path, static):
    pc, top = installed
    if "asan" in build_dir.name or "tsan" in build_dir.name:
        pytest.skip("a sanitizer build links only with its run-time library")
    source = tmp_path / "main.c"
    source.write_text(SOURCE)
    environment = {**os.environ, "PKG_CONFIG_PATH": str(pc.parent),
                   "PKG_CONFIG_SYSROOT_DIR": str(top)}
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", *["--static"][:static],
                            "tokdrain"], capture_output=True, text=True, env=environment,
                           check=True).stdout.split()
    if static:
        flags = [f.replace("-ltokdrain", "-l:libtokdrain.a") for f in flags]
    subprocess.run(["cc", "-std=c17", source, "-o", tmp_path / "main", *flags], check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False,
                          env={**os.environ, "LD_LIBRARY_PATH": str(pc.parent.parent)})
    assert (done.returncode, done.stdout) == (0, "0.1.0\n")
