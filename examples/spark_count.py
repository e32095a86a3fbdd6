#!/usr/bin/env python3
"""Counts a data set with Spark, on two workers of this machine, and checks it in one process.

    python examples/spark_count.py [data.parquet] [-m MODEL]

Spark needs Java. On a cluster it is the same with its own master and a path that all machines
see."""
import argparse
import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession, functions

from distributed_data import DEFAULT, one_process, write_sample
from tokdrain import distributed


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("file", nargs="?")
    p.add_argument("-m", "--model", default=str(DEFAULT))
    args = p.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = ":".join(sys.path)
    spark = SparkSession.builder.master("local[2]").appName("tokdrain") \
        .config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1") \
        .config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        path = args.file or write_sample(Path(folder))
        frame = spark.read.parquet(str(path)).repartition(8)
        counted = distributed.count_spark(frame, args.model)
        row = counted.agg(functions.count("*"), functions.sum("tokens"),
                          functions.count("error")).collect()[0]
        print(f"Spark, 2 workers: {row[0]} rows, {row[1]} tokens, {row[2]} failed")
        spark.stop()
        if tuple(row) != one_process(path, args.model):
            sys.exit("one process gives other totals")


if __name__ == "__main__":
    main()
