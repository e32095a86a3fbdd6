#!/usr/bin/env python3
"""A deterministic synthetic agentic-coding workload: 613 trajectories, 5,531 requests.

The prompt of every request is the whole conversation so far; contexts grow from about 3k tokens
(system prompt, 8 to 12 tools, task) to 20k-72k tokens. One trajectory a line:

    {"id": "traj_0007", "tools": [...], "messages": [...], "cuts": [2, 4, 7, ...],
     "outputs": [{"content": ..., "reasoning": ..., "tool_calls": [...]}, ...]}

Request k of a trajectory has the prompt messages[:cuts[k]]; outputs[k] is what the model then
answers (it is also messages[cuts[k]]). tools/pending.py turns trajectories into requests."""
import argparse
import json
import random
import sys

from synthetic import Gen

TRAJECTORIES, REQUESTS, SEED = 613, 5531, 444
TOOL_NAMES = ["read_file", "write_file", "run_command", "search_code", "list_directory",
              "apply_patch", "run_tests", "git_log", "web_fetch", "ask_user", "find_symbol",
              "todo_write"]
SYSTEM = "You are a careful software engineering agent.\n\n"
TURNS_MIN, TURNS_MAX, TURNS_SPREAD = 3, 18, 2.4


def opening(g, system_chars, user_chars):
    """The system prompt and the task."""
    r = g.r
    system = SYSTEM + g.paragraph(system_chars or r.randint(1200, 2400))
    task = g.paragraph(user_chars or r.randint(700, 2600))
    return [{"role": "system", "content": system},
            {"role": "user",
             "content": "<task>\n" + task + "\n\n" + g.file_content(300, False) + "\n</task>"}]


def answer(g, tools, last):
    """What the model says in one turn: reasoning, text, tool calls."""
    r = g.r
    reasoning = g.paragraph(r.randint(150, 1600))
    content = g.paragraph(r.randint(60, 500)) if (last or r.random() < 0.6) else ""
    if last and r.random() < 0.5:
        count = 0
    else:
        count = 1 if r.random() < 0.75 else r.randint(2, 3)
    calls = [g.tool_call(tools, "call_" + g.hexs(12)) for _ in range(count)]
    return {"content": content, "reasoning": reasoning, "tool_calls": calls or None}


def trajectory(seed, t, turns, turn_chars, tool_count=None, system_chars=None, user_chars=None):
    g = Gen(random.Random(f"{seed}:traj:{t}"))
    r = g.r
    count = tool_count if tool_count is not None else r.randint(8, 12)
    names = TOOL_NAMES[:]
    r.shuffle(names)
    tools = [g.tool(name) for name in names[:count]]
    messages = opening(g, system_chars, user_chars)
    cuts, outputs = [], []
    for k in range(turns):
        last = k == turns - 1
        cuts.append(len(messages))
        output = answer(g, tools, last)
        outputs.append(output)
        calls = output["tool_calls"] or []
        message = {"role": "assistant", "content": output["content"],
                   "reasoning_content": output["reasoning"]}
        if calls:
            message["tool_calls"] = calls
        messages.append(message)
        if last:
            break
        budget = turn_chars * (0.4 + 1.2 * r.random())
        for call in calls:
            messages.append({"role": "tool", "tool_call_id": call["id"],
                             "content": g.tool_output(int(budget / len(calls)))})
        if not calls or r.random() < 0.08:
            messages.append({"role": "user", "content": g.paragraph(r.randint(80, 600))})
    return {"id": f"traj_{t:04d}", "tools": tools, "messages": messages, "cuts": cuts,
            "outputs": outputs}


def plan_turns(seed, trajectory_count, request_count):
    """Turns of each trajectory, request_count in all."""
    r = random.Random(f"{seed}:turns")
    mean = request_count / trajectory_count
    turns = [max(TURNS_MIN, min(TURNS_MAX, int(r.gauss(mean, TURNS_SPREAD) + 0.5)))
             for _ in range(trajectory_count)]
    i = 0
    while sum(turns) != request_count:
        step = 1 if sum(turns) < request_count else -1
        if TURNS_MIN <= turns[i % trajectory_count] + step <= TURNS_MAX:
            turns[i % trajectory_count] += step
        i += 7
    return turns


def trajectories(seed=SEED, trajectory_count=TRAJECTORIES, request_count=REQUESTS,
                 end_chars=(85_000, 170_000), first=0, limit=None):
    """Yields trajectories first .. first + limit - 1 of the workload."""
    if not TURNS_MIN * trajectory_count <= request_count <= TURNS_MAX * trajectory_count:
        raise ValueError(f"{request_count} requests do not fit {trajectory_count} trajectories "
                         f"of {TURNS_MIN} to {TURNS_MAX} turns")
    turns = plan_turns(seed, trajectory_count, request_count)
    r = random.Random(f"{seed}:ends")
    ends = [r.randint(*end_chars) for _ in range(trajectory_count)]
    last = trajectory_count if limit is None else min(trajectory_count, first + limit)
    for t in range(first, last):
        yield trajectory(seed, t, turns[t], ends[t] / max(1, turns[t] - 1))


def write_line(f, value):
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    f.write(line + "\n")
    return len(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--trajectories", type=int, default=TRAJECTORIES)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--first", type=int, default=0, help="the first trajectory to write")
    parser.add_argument("--limit", type=int, help="how many to write (default: all)")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    count = requests = chars = 0
    with open(options.out, "w", encoding="utf-8") as f:
        for t in trajectories(options.seed, options.trajectories, options.requests,
                              first=options.first, limit=options.limit):
            chars += write_line(f, t)
            count += 1
            requests += len(t["cuts"])
    print(f"{count} trajectories, {requests} requests, {chars / 1e6:.1f} M chars: {options.out}",
          file=sys.stderr)


if __name__ == "__main__":
    main()
