"""The statistics of a series against references: numpy, the hdrhistogram package, exact integers.

metrics_probe records given values and prints the snapshots that the service would write."""
import bisect
import json
import math
import random
import subprocess

import pytest

msgspec = pytest.importorskip("msgspec")
numpy = pytest.importorskip("numpy")
hdrh = pytest.importorskip("hdrh.histogram")

SERIES = ["sample_latency_ns", "isl", "osl", "ttft_ns", "chunk_delta_ns", "tpot_ns"]
HIGH = {"isl": 10_000_000, "osl": 10_000_000}
PERCENTILES = [99.9, 99.0, 97.0, 95.0, 90.0, 80.0, 75.0, 50.0, 25.0, 10.0, 5.0, 1.0]


@pytest.fixture(scope="module")
def probe(build_dir):
    path = build_dir / "tests" / "service" / "metrics_probe"
    assert path.exists(), "metrics_probe is not built"

    def run(values, digits=3, buckets=30):
        """values: {series name: list} -> (live, final, final from msgpack), as dicts."""
        text = "".join(f"{SERIES.index(name)} {value!r}\n"
                       for name, list_ in values.items() for value in list_)
        out = subprocess.run([str(path), str(digits), str(buckets)], input=text, text=True,
                             capture_output=True, check=True).stdout.splitlines()
        return json.loads(out[0]), json.loads(out[1]), msgspec.msgpack.decode(bytes.fromhex(out[2]))
    return run


def series_of(snapshot, name):
    return next(m for m in snapshot["metrics"] if m["name"] == name)


def edges_of(values, buckets):
    low = max(min(values), 1)
    high = max(max(values), low * 10)
    step = (math.log(high) - math.log(low)) / buckets
    return [math.exp(math.log(low) + i * step) for i in range(buckets + 1)]


def check_edges(histogram, edges):
    for (got, _), want in zip(histogram, zip(edges, edges[1:])):
        assert got == pytest.approx(list(want), rel=1e-12)


def check_exact(got, values, buckets):
    ordered = sorted(values)
    n = len(values)
    assert got["count"] == n
    for p in PERCENTILES:
        assert got["percentiles"][f"{p}"] == float(ordered[math.floor((p / 100) * (n - 1))])
    for key, want in (("min", ordered[0]), ("max", ordered[-1])):
        assert got[key] == want and type(got[key]) is type(want)
    if isinstance(values[0], int):
        assert got["total"] == sum(values) and isinstance(got["total"], int)
        assert got["sum_sq"] == float(sum(v * v for v in values))
    else:
        assert got["total"] == pytest.approx(sum(values), rel=1e-12)
        assert got["sum_sq"] == pytest.approx(sum(v * v for v in values), rel=1e-12)
    assert isinstance(got["sum_sq"], float)
    edges = [e for (e, _), _ in got["histogram"]] + [got["histogram"][-1][0][1]]
    check_edges(got["histogram"], edges_of(values, buckets))
    clipped = numpy.clip(numpy.array(values, dtype=float), edges[0], edges[-1])
    want, _ = numpy.histogram(clipped, bins=numpy.array(edges))
    assert [c for _, c in got["histogram"]] == want.tolist()


def check_live(got, values, name, digits, buckets):
    high = HIGH.get(name, 3_600_000_000_000)
    reference = hdrh.HdrHistogram(1, high, digits)
    for value in values:
        assert reference.record_value(int(min(max(value, 1), high)))
    for p in PERCENTILES:
        assert got["percentiles"][f"{p}"] == float(reference.get_value_at_percentile(p)), (name, p)
    edges = [e for (e, _), _ in got["histogram"]] + [got["histogram"][-1][0][1]]
    check_edges(got["histogram"], edges_of(values, buckets))
    counts = [0] * buckets
    for item in reference.get_recorded_iterator():
        at = bisect.bisect_right(edges, item.value_iterated_to) - 1
        counts[min(max(at, 0), buckets - 1)] += item.count_added_in_this_iter_step
    assert [c for _, c in got["histogram"]] == counts


def random_values(rng, name, n):
    def value():
        shape = rng.random()
        high = HIGH.get(name, 3_600_000_000_000)
        if shape < 0.03:
            return rng.choice([0, -1, 1, 2, high - 1, high, high + 1, high * 3, -high])
        if shape < 0.5:
            return int(math.exp(rng.uniform(0, math.log(high))))
        return int(rng.gauss(high / 1000, high / 5000))
    values = [value() for _ in range(n)]
    return [v / 7 for v in values] if name == "tpot_ns" else values


# The reference walks all its cells for each percentile: few series at high precision.
@pytest.mark.parametrize("digits,buckets,names", [
    (3, 30, SERIES), (1, 1, SERIES), (2, 7, SERIES), (4, 100, ["isl"]), (5, 30, ["osl"])])
def test_random_values_agree_with_the_references(probe, digits, buckets, names):
    rng = random.Random(digits)
    for n in (1, 2, 64, 65, 3000) if digits < 4 else (700,):
        values = {name: random_values(rng, name, n) for name in names}
        live, final, _ = probe(values, digits, buckets)
        for name in names:
            check_live(series_of(live, name), values[name], name, digits, buckets)
            check_exact(series_of(final, name), values[name], buckets)


def test_an_empty_series_is_plain_zeros(probe):
    for snapshot in probe({})[:2]:
        for name in SERIES:
            got = series_of(snapshot, name)
            zero = 0.0 if name == "tpot_ns" else 0
            assert [repr(got[k]) for k in ("count", "total", "min", "max", "sum_sq")] == \
                ["0", repr(zero), "0", "0", repr(zero)]
            assert got["histogram"] == []
            assert got["percentiles"] == {f"{p}": 0.0 for p in PERCENTILES}


def test_json_layout_is_that_of_json_dumps(build_dir):
    path = build_dir / "tests" / "service" / "metrics_probe"
    lines = subprocess.run([str(path), "3", "4"], input="0 5\n5 2.5\n", text=True, check=True,
                           capture_output=True).stdout.splitlines()
    for line in lines[:2]:
        assert line == json.dumps(json.loads(line), indent=2).replace("\n", " ")


def test_both_forms_tell_the_same(probe):
    rng = random.Random(9)
    _, final, packed = probe({name: random_values(rng, name, 900) for name in SERIES})
    counter, timestamp, state, pending, metrics = packed
    assert (counter, timestamp, state, pending) == (2, 456, "complete", 0)
    assert [m[1] for m in metrics] == [m["name"] for m in final["metrics"]]
    for got, want in zip(metrics, final["metrics"]):
        if got[0] == "counter":
            assert got[2:] == [want["value"]]
            continue
        assert got[2:7] == [want[k] for k in ("count", "total", "min", "max", "sum_sq")]
        assert got[7] == want["percentiles"] and list(got[7]) == list(want["percentiles"])
        assert got[8] == want["histogram"]
        assert got[9] == want.get("early_stopping_percentiles")
        assert (got[9] is None) == (got[1] in ("isl", "osl", "chunk_delta_ns"))


def incomplete_beta_by_binomial(h, t, q):
    """I_q(h, t + 1) as the exact tail of a binomial distribution."""
    n = h + t
    return math.fsum(math.comb(n, k) * q ** k * (1 - q) ** (n - k) for k in range(h, n + 1))


def test_early_stopping_estimates(probe):
    values = random.Random(3).sample(range(1, 10**6), 900)
    _, final, _ = probe({"sample_latency_ns": values})
    ordered = sorted(values)
    early = series_of(final, "sample_latency_ns")["early_stopping_percentiles"]
    assert list(early) == [f"{p}" for p in PERCENTILES if p >= 50]
    for p in PERCENTILES[:8]:
        q, t = p / 100, 0
        while incomplete_beta_by_binomial(900 - (t + 1), t + 1, q) < 0.01:
            t += 1
        assert early[f"{p}"] == (float(ordered[900 - t]) if t else None)
    assert set(series_of(final, "ttft_ns")["early_stopping_percentiles"].values()) == {None}
