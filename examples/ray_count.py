#!/usr/bin/env python3
"""Counts a data set with Ray Data, on two workers of this machine, and checks it in one process.

    python examples/ray_count.py [data.parquet] [-m MODEL]

On a cluster it is the same with ray.init("auto"), a larger concurrency, and a path that all
machines see."""
import argparse
import sys
import tempfile
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import ray

from distributed_data import DEFAULT, one_process, write_sample
from tokdrain import distributed


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("file", nargs="?")
    p.add_argument("-m", "--model", default=str(DEFAULT))
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.file or write_sample(Path(folder))
        # Two for the workers, two for what reads and writes.
        ray.init(num_cpus=4, include_dashboard=False, logging_level="warning",
                 runtime_env={"env_vars": {"PYTHONPATH": ":".join(sys.path)}})
        ray.data.DataContext.get_current().enable_progress_bars = False
        dataset = ray.data.read_parquet(str(path)).repartition(8)  # work for both
        counted = distributed.count_ray(dataset, args.model, concurrency=2)
        out = Path(folder) / "counted"
        counted.write_parquet(str(out))
        ray.shutdown()
        table = pq.read_table(out)
        tokens, failed = pc.sum(table["tokens"]).as_py(), table["tokens"].null_count
        print(f"Ray, 2 workers: {table.num_rows} rows, {tokens} tokens, {failed} failed")
        if (table.num_rows, tokens, failed) != one_process(path, args.model):
            sys.exit("one process gives other totals")


if __name__ == "__main__":
    main()
