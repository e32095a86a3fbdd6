"""Memory and speed on an endless stream of prompts that are all different: the memo fills, evicts
and stays within its bound, and nothing gets slower. TD_TEST_SCALE=100 sends 10 GB."""
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))
STREAM_BYTES = int(100e6 * SCALE)
PROMPT_BYTES, PART_BYTES = 64 << 10, 400
TICK = os.sysconf("SC_CLK_TCK")
MIB = 1 << 20


def parts():
    """Pieces of text for prompts; a number goes between each two."""
    text = Path(__file__).read_text(encoding="utf-8")
    for taken in '"\\\n':
        text = text.replace(taken, " ")
    text = (text * (1 + 2 * PROMPT_BYTES // len(text))).encode()
    return [text[i:i + PART_BYTES] for i in range(0, PROMPT_BYTES, PART_BYTES)]


def prompts(total):
    """Lines of about PROMPT_BYTES that have no stretch in common."""
    pieces, number = parts(), 0
    for n in range(total // PROMPT_BYTES):
        body = bytearray()
        for piece in pieces:
            number += 1
            body += b"%s %d " % (piece, number * 7919)
        yield b'{"id": %d, "messages": [{"role": "user", "content": "%s"}]}\n' % (n, body)


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def peak(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


class Stream:
    """One process, fed and measured."""

    def __init__(self, program, total, *options):
        self.total = total
        self.process = subprocess.Popen([program, "count", *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.marks = []  # results, CPU seconds, clock

    def feed(self):
        for line in prompts(self.total):
            self.process.stdin.write(line)
        self.process.stdin.close()

    def run(self):
        feeder = threading.Thread(target=self.feed)
        feeder.start()
        whole, reused, memory = self.total // PROMPT_BYTES, 0, 0
        for n, line in enumerate(self.process.stdout, 1):
            assert b'"tokens": null' not in line, line
            if n % max(1, whole // 40) == 0 and n < whole:
                self.marks.append((n, cpu_seconds(self.process.pid), time.monotonic()))
                memory = max(memory, peak(self.process.pid))
        feeder.join()
        assert self.process.wait() == 0 and n == whole
        return memory

    def cost(self, first, last, which):
        """Seconds (CPU: 1, clock: 2) a prompt between two marks."""
        a, b = self.marks[first], self.marks[last]
        return (b[which] - a[which]) / (b[0] - a[0])


@pytest.mark.parametrize("memo", [1, 256])
def test_unique_prompts(program, build_dir, memo):
    if build_dir.name in ("build-asan", "build-tsan", "build-selfcheck"):
        pytest.skip("a sanitizer takes memory of its own")
    if memo == 256 and SCALE < 10:
        pytest.skip("a memo of 256 MiB fills on 1 GB and more (TD_TEST_SCALE)")
    base = Stream(program, 4 * PROMPT_BYTES)
    alone = base.run()
    stream = Stream(program, STREAM_BYTES, "--memory", f"{memo}MiB")
    used = stream.run()
    print(f"{STREAM_BYTES / 1e9:.1f} GB, {used / MIB:.0f} MiB, {alone / MIB:.0f} MiB at first; ms "
          f"a prompt: {1000 * stream.cost(1, 10, 1):.3f}, {1000 * stream.cost(-10, -1, 1):.3f}")
    assert used <= alone + (memo + 64) * MIB
    assert stream.cost(-10, -1, 1) < (1.3 if SCALE >= 10 else 2) * stream.cost(1, 10, 1)
