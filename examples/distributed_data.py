"""What ray_count.py and spark_count.py share: sample data, and the same totals in one process."""
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import tokdrain
from tokdrain import arrow

DEFAULT = Path(__file__).resolve().parent.parent / "assets" / "default"
ROWS = 20_000


def write_sample(folder):
    """A Parquet file of made-up conversations; every thousandth cannot be counted."""
    rows = [[{"role": "user", "content": f"Question {i}: " + "and so on " * (i % 40)},
             {"role": "assistant", "content": f"Answer {i}. " * (1 + i % 5)}]
            if i % 1000 else [] for i in range(ROWS)]
    path = folder / "sample.parquet"
    pq.write_table(pa.table({"id": range(ROWS), "messages": rows}), path, row_group_size=2000)
    return path


def one_process(path, model):
    """(rows, tokens, failed)"""
    tokens = arrow.count(tokdrain.Model.from_pretrained(model), pq.read_table(path))["tokens"]
    return len(tokens), pc.sum(tokens).as_py(), tokens.null_count
