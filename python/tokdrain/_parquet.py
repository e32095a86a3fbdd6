"""Counts of the rows of a Parquet file, written to another one.

The counts of each stretch of rows go into a file of their own in OUT.partial, which appears under
its name only when it is whole; so a run that was killed at any moment goes on where it was. When
all are there, the output is written beside its place, and then moved there. Memory is bounded by
the bytes of a stretch, whatever the sizes of rows and row groups."""
import fcntl
import hashlib
import json
import os
import shutil
import time
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tokdrain import arrow
from tokdrain._errors import InputError

STRETCH_BYTES, STRETCH_ROWS = 64 << 20, 1 << 16
_SCHEMA = pa.schema([("tokens", pa.int64()), ("error", pa.string())])


class Summary:
    """What a run did: rows, tokens, failed, and failures by kind."""

    def __init__(self):
        self.rows = self.tokens = self.failed = 0
        self.kinds = {}

    def add(self, tokens, errors):
        self.rows += len(tokens)
        self.tokens += pc.sum(tokens).as_py() or 0
        failed = errors.filter(tokens.is_null())  # a fallback's error stands beside its count
        self.failed += len(failed)
        for text in failed.to_pylist():
            kind = text.partition(":")[0]
            self.kinds[kind] = self.kinds.get(kind, 0) + 1


def count_parquet(counter, source, target, *, messages_column="messages", tools_column=None,
                  kwargs_column=None, columns=None, tokens_column="tokens", error_column="error",
                  drop_nulls=False, settings=None, restart=False, progress=None):
    """Writes target: the rows of source with the columns that arrow.count appends. Goes on with
    what an interrupted run of the same source and settings (anything that JSON can say: what else
    the counts depend on) has left in target.partial; restart drops that. progress(rows done, of
    how many, of them done earlier) is called after each stretch. Gives a Summary."""
    source, target = Path(source), Path(target)
    if target.exists() and target.samefile(source):
        raise InputError("the output is the input")
    with pq.ParquetFile(source, pre_buffer=False, buffer_size=1 << 20) as file:
        chosen = arrow.columns_of(messages_column, tools_column, kwargs_column, columns)
        _check_names(file.schema_arrow.names, chosen, (tokens_column, error_column))
        status = source.stat()
        identity = {"source": [str(source.resolve()), status.st_size, status.st_mtime_ns],
                    "columns": chosen, "drop_nulls": bool(drop_nulls), "settings": settings,
                    "stretch": [STRETCH_BYTES, STRETCH_ROWS]}
        with _partial(Path(f"{target}.partial"), identity, restart) as folder:
            parts = _count_parts(counter, file, folder, chosen, drop_nulls,
                                 progress or (lambda *_: None))
            summary = _write(file, parts, target, folder, tokens_column, error_column)
        return summary


def _check_names(names, chosen, added):
    for name in chosen.values():
        if names.count(name) != 1:
            raise InputError(f"there is no column {name!r}" if name not in names else
                             f"more than one column is {name!r}")
    for name in added:
        if name in names:
            raise InputError(f"there is a column {name!r} already: choose another name for it")


# ---- what lies in OUT.partial ----

@contextmanager
def _partial(folder, identity, restart):
    """The folder of the parts, held by this process alone; gone after success."""
    text = json.dumps(identity, sort_keys=True, default=str)
    folder.mkdir(exist_ok=True)
    with open(folder / "run.json", "a+", encoding="utf-8") as run:
        try:
            fcntl.flock(run, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"another process is at work in {folder}") from None
        run.seek(0)
        found = run.read()
        if found != text:
            if found and not restart:
                raise InputError(f"{folder} is what another run has left, of other data or with "
                                 "other options: remove it, or say --restart")
            restart = True
        if restart:
            for old in folder.glob("*.arrow*"):
                old.unlink()
            run.truncate(0)
            run.write(text)
            run.flush()
        yield folder
    shutil.rmtree(folder)


def _save(path, batches):
    """Writes the part, which appears when it is whole and on the disk."""
    temporary = path.with_suffix(".arrow.new")
    with open(temporary, "wb") as out:
        with pa.ipc.new_file(out, _SCHEMA) as writer:
            for batch in batches:
                writer.write_batch(batch)
        out.flush()
        os.fsync(out.fileno())
    os.replace(temporary, path)


def _rows_at_once(group):
    """How many rows of a row group make a stretch."""
    row = max(1, group.total_byte_size // max(1, group.num_rows))
    return max(1, min(STRETCH_ROWS, STRETCH_BYTES // row))


def _count_parts(counter, file, folder, chosen, drop_nulls, progress):
    """Counts what is not there yet; gives the paths of all parts, in order."""
    names, paths, done, earlier = list(dict.fromkeys(chosen.values())), [], 0, 0
    total = file.metadata.num_rows
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        if group.num_rows == 0:
            continue
        known = folder / f"{number:08d}.arrow"  # the whole group, from stretches of its own
        paths.append(known)
        if known.exists():
            done += group.num_rows
            earlier += group.num_rows
            progress(done, total, earlier)
            continue
        stretches, first = [], 0
        for batch in file.iter_batches(_rows_at_once(group), row_groups=[number], columns=names,
                                       use_threads=False):
            path = folder / f"{number:08d}-{first:012d}-{batch.num_rows}.arrow"
            if path.exists():
                earlier += batch.num_rows
            else:
                columns = {key: batch.column(name) for key, name in chosen.items()}
                pair = arrow.count_columns(counter, columns, drop_nulls=drop_nulls)
                _save(path, [pa.RecordBatch.from_arrays(list(pair), schema=_SCHEMA)])
            stretches.append(path)
            first += batch.num_rows
            done += batch.num_rows
            progress(done, total, earlier)
        _save(known, (batch for path in stretches for batch in _read(path)))
        for path in stretches:
            path.unlink()
    return paths


def _read(path):
    with pa.memory_map(str(path)) as data, pa.ipc.open_file(data) as reader:
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i)


class _Counts:
    """The counts of all parts as one stream."""

    def __init__(self, parts):
        self._batches = (batch for path in parts for batch in _read(path))
        self._rest = None

    def take(self, rows):
        """(tokens, errors) of the next rows."""
        pieces = []
        while rows > 0:
            if self._rest is None or self._rest.num_rows == 0:
                self._rest = next(self._batches)
            pieces.append(self._rest.slice(0, rows))
            self._rest = self._rest.slice(pieces[-1].num_rows)
            rows -= pieces[-1].num_rows
        table = pa.Table.from_batches(pieces, _SCHEMA)
        return table.column(0).combine_chunks(), table.column(1).combine_chunks()


# ---- the output ----

def _write(file, parts, target, folder, tokens_column, error_column):
    counts, summary = _Counts(parts), Summary()
    schema = file.schema_arrow.append(pa.field(tokens_column, pa.int64())).append(
        pa.field(error_column, pa.string()))
    temporary = folder / "output.arrow.new"
    with open(temporary, "wb") as out:
        with pq.ParquetWriter(out, schema) as writer:
            for number in range(file.num_row_groups):
                group = file.metadata.row_group(number)
                for batch in file.iter_batches(_rows_at_once(group), row_groups=[number],
                                               use_threads=False):
                    tokens, errors = counts.take(batch.num_rows)
                    summary.add(tokens, errors)
                    writer.write_batch(pa.RecordBatch.from_arrays(
                        [*batch.columns, tokens, errors], schema=schema))
        out.flush()
        os.fsync(out.fileno())
    os.replace(temporary, target)
    return summary


def fingerprint(path):
    """What a file's or a folder's files are, for settings: names, sizes and times."""
    path = Path(path)
    files = sorted(path.iterdir()) if path.is_dir() else [path] if path.exists() else []
    listed = [(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in files if f.is_file()]
    return hashlib.sha256(repr(listed).encode()).hexdigest()


class Bar:
    """A line on a terminal that tells how far the work is."""

    def __init__(self, out):
        self._out, self._start, self._shown, self._width = out, time.monotonic(), 0.0, 0

    def __call__(self, done, total, earlier):
        now = time.monotonic()
        if now - self._shown < 0.2 and done < total:
            return
        self._shown = now
        seconds = max(now - self._start, 1e-9)
        speed = (done - earlier) / seconds
        filled = 24 * done // max(total, 1)
        left = f", {(total - done) / speed:.0f} s left" if speed > 0 and done < total else ""
        self._line(f"[{'#' * filled}{'.' * (24 - filled)}] {done:,} of {total:,} rows, "
                   f"{speed:,.0f} rows/s{left}")

    def _line(self, text):
        self._out.write("\r" + text.ljust(self._width))
        self._out.flush()
        self._width = len(text)

    def close(self):
        if self._width:
            self._out.write("\n")
