"""The recorded scenarios, played by the replayer that came with them."""
import subprocess
import sys

import pytest

SCENARIOS = ["text_streaming", "text_nonstreaming", "structured_drain", "errors", "early_stopping",
             "sigterm_midrun"]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario(aggregator, shared_dir, model_dir, scenario):
    replay = shared_dir / "fixtures" / "replay.py"
    if not replay.exists():
        pytest.skip("the recorded scenarios are absent")
    more = []
    if scenario == "structured_drain":
        more = ["--tokenizer", f"qwen3={model_dir('qwen3')}"]
    done = subprocess.run([sys.executable, str(replay), "--strict", *more, scenario, "--",
                           str(aggregator), "aggregate"], capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
