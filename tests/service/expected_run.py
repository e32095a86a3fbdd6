"""What the events of a run mean, written down a second time and plainly: the oracle of the tests.

No tokens are counted here except those of prompts that come as ids."""


class Run:
    def __init__(self, streaming):
        self.streaming = streaming
        self.counters = dict.fromkeys(
            ["total_samples_issued", "total_samples_completed", "total_samples_failed",
             "tracked_samples_issued", "tracked_samples_completed", "tracked_samples_failed",
             "tracked_finish_reason_stop", "tracked_finish_reason_length",
             "tracked_finish_reason_tool_calls", "tracked_finish_reason_content_filter",
             "tracked_finish_reason_function_call", "tracked_finish_reason_other",
             "tracked_duration_ns", "legacy_loadgen_window_duration_ns", "total_duration_ns"], 0)
        names = ["sample_latency_ns", "isl", "osl"]
        if streaming:
            names += ["ttft_ns", "chunk_delta_ns", "tpot_ns"]
        self.series = {name: [] for name in names}
        self.start = None
        self.ended = False
        self.rows = {}
        self.blocks = []
        self.tracking = False
        self.window = [None, None]
        self.max_issued = -1

    def record(self, name, value):
        if name in self.series:
            self.series[name].append(min(max(value, -2**63), 2**63 - 1))

    def durations(self):
        self.counters["tracked_duration_ns"] = sum(b["last"] - b["start"] for b in self.blocks)
        first, last = self.window
        if last is not None:
            self.counters["legacy_loadgen_window_duration_ns"] = max(0, last - first)

    def event(self, kind, ts, uuid="", data=None, finish_reason=None):
        if self.ended:
            return
        if self.start is not None:
            total = self.counters["total_duration_ns"]
            self.counters["total_duration_ns"] = max(total, ts - self.start)
        category, name = kind.split(".")
        if category == "session":
            getattr(self, "on_" + name)(ts)
        elif category == "error":
            self.counters["total_samples_failed"] += 1
            self.counters["tracked_samples_failed"] += uuid != "" and uuid in self.rows
        elif uuid:
            getattr(self, "on_" + name)(ts, uuid, data, finish_reason)

    def on_started(self, ts):
        if self.start is None:
            self.start = ts

    def on_start_performance_tracking(self, ts):
        if not self.tracking:
            self.tracking = True
            self.blocks.append({"start": ts, "last": ts})

    def on_stop_performance_tracking(self, _):
        self.tracking = False
        self.durations()

    def on_stop_loadgen(self, _):
        pass

    def on_ended(self, _):
        self.ended = True
        self.durations()

    def on_issued(self, ts, uuid, data, _):
        if self.tracking:
            row = self.rows.setdefault(uuid, {})
            row["block"] = self.blocks[-1]
            if self.window[0] is None:
                self.window[0] = ts
            if data is not None and data[0] == "PromptData" and data[2] is not None:
                self.record("isl", len(data[2]))
            row["issued"] = ts
        self.counters["total_samples_issued"] += 1
        self.counters["tracked_samples_issued"] += uuid in self.rows

    def on_recv_first(self, ts, uuid, *_):
        if uuid in self.rows:
            self.record("ttft_ns", ts - self.rows[uuid]["issued"])
            self.on_recv_non_first(ts, uuid)

    def on_recv_non_first(self, ts, uuid, *_):
        row = self.rows.get(uuid)
        if row is None:
            return
        if "last" in row:
            self.record("chunk_delta_ns", ts - row["last"])
        row["last"] = ts

    def on_complete(self, ts, uuid, _, finish_reason):
        self.counters["total_samples_completed"] += 1
        row = self.rows.pop(uuid, None)
        if row is None:
            return
        self.record("sample_latency_ns", ts - row["issued"])
        row["block"]["last"] = max(row["block"]["last"], ts)
        if row["issued"] > self.max_issued:
            self.max_issued = row["issued"]
            self.window[1] = ts
        self.counters["tracked_samples_completed"] += 1
        if finish_reason is not None:
            known = ("stop", "length", "tool_calls", "content_filter", "function_call")
            suffix = finish_reason if finish_reason in known else "other"
            self.counters["tracked_finish_reason_" + suffix] += 1
