#!/usr/bin/env python3
"""Requests chosen from the synthetic workload, as JSON lines that tokdrain reads.

By default the backlog of a finished run: 408 pending requests, the last one of each of the last
128 trajectories (as many as were under way), then the one before it, and so on, oldest first.

--earlier FILE writes the requests of the same trajectories that came before the backlog (what a
service had counted by then; `tokdrain drain --warm FILE`). --every N writes each Nth request of
the whole workload instead of a backlog, --whole all 5,531 in the order in which a run issues them.

Cases: agentic is the workload of make_workload.py (20k-72k tokens a prompt); 2k, 8k and 30k have
prompts of about so many tokens."""
import argparse
import heapq
import random
import sys

from make_workload import SEED, TRAJECTORIES, trajectories, trajectory, write_line
from synthetic import Gen

PENDING, CONCURRENCY = 408, 128
# turns, characters a turn, tools, characters of system prompt and task (None: as agentic)
SIZES = {"2k": (4, 520, 3, 500, 400), "8k": (9, 950, None, None, None),
         "30k": (9, 10900, None, None, None)}


def backlog_trajectories(case="agentic", concurrency=CONCURRENCY, seed=SEED):
    if case == "agentic":
        return list(trajectories(seed, first=TRAJECTORIES - concurrency, limit=concurrency))
    return [trajectory(f"{seed}:{case}", t, *SIZES[case]) for t in range(concurrency)]


def select_pending(chosen, count=PENDING):
    """(trajectory, turn) of the backlog, oldest first."""
    picked, back = [], 1
    while len(picked) < count:
        layer = [(t, len(t["cuts"]) - back) for t in chosen if len(t["cuts"]) >= back]
        if not layer:
            raise ValueError(f"there are only {len(picked)} requests, not {count}")
        picked += layer[: count - len(picked)]
        back += 1
    picked.reverse()
    return picked


def select_earlier(chosen, pending):
    """(trajectory, turn) of every request before the backlog, in the order of their turns."""
    oldest = {t["id"]: len(t["cuts"]) for t in chosen}
    for t, turn in pending:
        oldest[t["id"]] = min(oldest[t["id"]], turn)
    return [(t, turn) for turn in range(max(oldest.values()))
            for t in chosen if turn < oldest[t["id"]]]


def issue_order(concurrency=CONCURRENCY, seed=SEED, chosen=None):
    """(start, end, trajectory, turn) of a whole run in order of issue: so many trajectories are
    under way at a time, each waits for its answer. Times are parts of the whole run, 0 to 1."""
    r = random.Random(f"{seed}:issue:{concurrency}")
    waiting = iter(trajectories(seed) if chosen is None else chosen)
    running = [(r.random() / 8, slot, t, 0) for slot, t in zip(range(concurrency), waiting)]
    heapq.heapify(running)
    events = []
    while running:
        start, slot, t, turn = heapq.heappop(running)
        end = start + 0.5 + r.random()
        events.append((start, end, t, turn))
        if turn + 1 < len(t["cuts"]):
            heapq.heappush(running, (end, slot, t, turn + 1))
        elif (t := next(waiting, None)) is not None:
            heapq.heappush(running, (end, slot, t, 0))
    whole = max(end for _, end, _, _ in events)
    return [(start / whole, end / whole, t, turn) for start, end, t, turn in events]


def request(t, turn):
    """One line of input (the prompt of that turn)."""
    return {"id": f"{t['id']}:{turn}", "conversation_id": t["id"], "turn": turn,
            "messages": t["messages"][: t["cuts"][turn]], "tools": t["tools"]}


def sample(every, seed=SEED):
    """Each Nth request of the whole workload."""
    n = 0
    for t in trajectories(seed):
        for turn in range(len(t["cuts"])):
            if n % every == 0:
                yield t, turn
            n += 1


def texts(count, lo=300, hi=2500, seed=SEED):
    """Plain texts, prose and code."""
    g = Gen(random.Random(f"{seed}:texts"))
    return [g.paragraph(g.r.randint(lo, hi)) if g.r.random() < 0.6
            else g.file_content(g.r.randint(lo, hi), False) for _ in range(count)]


def write_requests(path, selection):
    count = 0
    with open(path, "w", encoding="utf-8") as f:
        for count, (t, turn) in enumerate(selection, 1):
            write_line(f, request(t, turn))
    print(f"{count} requests: {path}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="agentic", choices=["agentic", *SIZES])
    parser.add_argument("--count", type=int, default=PENDING, help="requests in the backlog")
    parser.add_argument("--concurrency", type=int, default=CONCURRENCY,
                        help="trajectories that were under way")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", required=True)
    parser.add_argument("--earlier", metavar="FILE", help="the requests before the backlog")
    parser.add_argument("--every", type=int, metavar="N",
                        help="each Nth request of the whole agentic workload instead")
    parser.add_argument("--whole", action="store_true",
                        help="the whole agentic workload in order of issue instead")
    options = parser.parse_args()
    if options.whole:
        events = issue_order(options.concurrency, options.seed)
        write_requests(options.out, ((t, turn) for _, _, t, turn in events))
        return
    if options.every:
        write_requests(options.out, sample(options.every, options.seed))
        return
    chosen = backlog_trajectories(options.case, options.concurrency, options.seed)
    pending = select_pending(chosen, options.count)
    write_requests(options.out, pending)
    if options.earlier:
        write_requests(options.earlier, select_earlier(chosen, pending))


if __name__ == "__main__":
    main()
