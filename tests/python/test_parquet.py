"""python -m tokdrain count IN.parquet OUT.parquet: the counts, going on after an end, bounds."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
import pyarrow.parquet as pq  # noqa: E402

from tokdrain import _parquet  # noqa: E402

PACKAGE = os.path.dirname(os.path.dirname(tokdrain.__file__))


def chat(i):
    return [{"role": "user", "content": f"number {i} " + "word " * (i % 50)}]


def write(path, rows=1000, group=300):
    table = pa.table({"id": range(rows), "messages": [json.dumps(chat(i)) for i in range(rows)]})
    pq.write_table(table, path, row_group_size=group)
    return table


def command(*arguments):
    return [sys.executable, "-m", "tokdrain", "count", *map(str, arguments)]


def run(*arguments, **options):
    env = {**os.environ, "PYTHONPATH": PACKAGE, **options}
    return subprocess.run(command(*arguments), capture_output=True, text=True, env=env,
                          timeout=120, check=False)


@pytest.fixture(scope="module")
def model():
    return tokdrain.Model.built_in()


def test_counts_and_keeps_the_rest(tmp_path, model):
    table = write(tmp_path / "in.parquet")
    done = run(tmp_path / "in.parquet", tmp_path / "out.parquet", "--progress", "always")
    assert done.returncode == 0, done.stderr
    got = pq.read_table(tmp_path / "out.parquet")
    expected = [model.count(chat(i)) for i in range(1000)]
    assert got.column_names == ["id", "messages", "tokens", "error"]
    assert got.select(["id", "messages"]).equals(table)
    assert got.column("tokens").to_pylist() == expected
    assert got.column("error").null_count == 1000
    assert f"1,000 rows, {sum(expected):,} tokens" in done.stderr
    assert "1,000 of 1,000 rows" in done.stderr and not (tmp_path / "out.parquet.partial").exists()
    silent = run(tmp_path / "in.parquet", tmp_path / "out.parquet")
    assert silent.returncode == 0 and "[#" not in silent.stderr


def test_failed_rows_and_usage(tmp_path):
    table = pa.table({"m": ["[", '[{"role":"user","content":"x"}]', None], "t": ["a", "b", "c d"]})
    pq.write_table(table, tmp_path / "in.parquet")
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    done = run(source, out, "--messages-column", "m")
    assert done.returncode == 1 and "2 of 3 items failed: 2 input" in done.stderr
    got = pq.read_table(out)
    assert [t is None for t in got.column("tokens").to_pylist()] == [True, False, True]
    assert run(source, out, "--text-column", "t").returncode == 0
    for arguments, status, text in [
            ((source, out), 3, "no column 'messages'"), ((source, source, "--text-column", "t"), 3,
                                                         "the output is the input"),
            ((tmp_path / "no.parquet", out), 3, "no.parquet"), ((source, ), 2, "OUT.parquet"),
            ((source, out, "--text-column", "t", "--tokens-column", "m"), 3, "already"),
            ((source, out, "-m", tmp_path / "none"), 3, "none")]:
        done = run(*arguments)
        assert (done.returncode, text in done.stderr) == (status, True), (arguments, done.stderr)
        assert "Traceback" not in done.stderr
    (tmp_path / "hide" / "pyarrow").mkdir(parents=True)
    (tmp_path / "hide" / "pyarrow" / "__init__.py").write_text("raise ImportError('hidden')")
    done = run(source, out, PYTHONPATH=f"{tmp_path / 'hide'}:{PACKAGE}")
    assert done.returncode == 3 and "pip install pyarrow" in done.stderr


class Stop(Exception):
    pass


def test_goes_on_after_an_end_at_any_stretch(tmp_path, model, monkeypatch):
    monkeypatch.setattr(_parquet, "STRETCH_ROWS", 64)
    write(tmp_path / "in.parquet")
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    expected = [model.count(chat(i)) for i in range(1000)]
    last, ends = 0, 0

    def progress(done, total, earlier):
        nonlocal last, ends
        assert total == 1000 and earlier <= done
        assert earlier >= min(done, last), "what was done before is counted again"
        if done > last:
            last = done
            ends += 1
            raise Stop
    with tokdrain.Counter(model) as counter:
        for _ in range(40):
            try:
                summary = _parquet.count_parquet(counter, source, target, progress=progress)
                break
            except Stop:
                assert not target.exists()
        counted = counter.stats()["done"]
    assert ends >= 16 and counted == 1000
    assert (summary.rows, summary.tokens, summary.failed) == (1000, sum(expected), 0)
    assert pq.read_table(target).column("tokens").to_pylist() == expected


def test_leftovers_of_other_runs_are_not_used(tmp_path, model):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    write(source)

    def stop(*_):
        raise Stop
    with tokdrain.Counter(model) as counter:
        with pytest.raises(Stop):
            _parquet.count_parquet(counter, source, target, progress=stop)
        write(source, rows=1200)
        with pytest.raises(tokdrain.InputError, match="another run"):
            _parquet.count_parquet(counter, source, target)
        done = run(source, target)
        assert done.returncode == 3 and "--restart" in done.stderr
        with (tmp_path / "out.parquet.partial" / "run.json").open() as held:
            import fcntl
            fcntl.flock(held, fcntl.LOCK_EX)
            with pytest.raises(tokdrain.InputError, match="another process"):
                _parquet.count_parquet(counter, source, target, restart=True)
        assert _parquet.count_parquet(counter, source, target, restart=True).rows == 1200
    pq.write_table(pa.table({"messages": pa.array([], pa.string())}), source)
    with tokdrain.Counter(model) as counter:
        assert _parquet.count_parquet(counter, source, target).rows == 0
    assert pq.read_table(target).column_names == ["messages", "tokens", "error"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_command_goes_on(tmp_path, model, number):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    rows = 20000
    write(source, rows=rows, group=500)
    env = {**os.environ, "PYTHONPATH": PACKAGE}
    with subprocess.Popen(command(source, target, "-j", 1), env=env, text=True,
                          stderr=subprocess.PIPE) as process:
        partial = tmp_path / "out.parquet.partial"
        while process.poll() is None and len(list(partial.glob("*.arrow"))) < 3:
            time.sleep(0.002)
        process.send_signal(number)
        error = process.communicate()[1]
    if process.returncode == 0:
        pytest.skip("the command was faster than the signal")
    assert process.returncode == (130 if number == signal.SIGINT else -number), error
    assert "Traceback" not in error and not target.exists() and list(partial.glob("*.arrow"))
    assert run(source, target).returncode == 0
    tokens = pq.read_table(target).column("tokens").to_pylist()
    assert len(tokens) == rows and tokens[::997] == [model.count(chat(i))
                                                     for i in range(0, rows, 997)]
