"""Compare the time that `load_encoder` takes with the time that transformers takes."""

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch
from transformers import AutoModel, BertConfig, MPNetConfig

from benchmarks.base_size import copy_tokenizer
from benchmarks.table import Row, duration

TITLE = "The first load of a base-size model from a folder"
COLUMNS = ("`load_encoder`", "reference: transformers")
ROUNDS = 5
MORE = 1.2  # limit on the extra wall time, in seconds
CLOCKS = ("wall time", "CPU time")
# The imports and the first reading of the weights aren't timed.
CODE = """
import importlib, sys, time
from pathlib import Path
import torch
from transformers import AutoConfig, AutoModel, AutoTokenizer
from selfattn import load_encoder
folder, whose = sys.argv[1:]
kind = AutoConfig.from_pretrained(folder).model_type
importlib.import_module(f"transformers.models.{kind}.modeling_{kind}")
(Path(folder) / "model.safetensors").read_bytes()
clocks = time.perf_counter, time.process_time
before = [clock() for clock in clocks]
if whose == "ours":
    load_encoder(folder, device="cpu")
else:
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        for _ in range(2):
            model(**tokenizer("The bank of the river.", return_tensors="pt"))
print(*(clock() - start for clock, start in zip(clocks, before)))
"""


def main(small: bool = False) -> Iterator[Row]:
    """Yield the results of loading BERT and of loading MPNet, as table rows. Each load runs in a new process."""
    sizes = {"num_hidden_layers": 2} if small else {}
    with tempfile.TemporaryDirectory() as root:
        for config in (BertConfig(**sizes), MPNetConfig(vocab_size=30_522, **sizes)):
            folder = Path(root, config.model_type)
            torch.default_generator.manual_seed(0)
            AutoModel.from_config(config).save_pretrained(folder)
            copy_tokenizer(folder)
            rounds = [(_seconds(folder, "ours"), _seconds(folder, "theirs")) for _ in range(1 if small else ROUNDS)]
            for kind, pairs in zip(CLOCKS, zip(*(zip(*each) for each in rounds))):
                ours, theirs = (statistics.median(side) for side in zip(*pairs))
                more = statistics.median(first - second for first, second in pairs)
                kept = f"at most {MORE:g} s: {'yes' if more <= MORE else 'NO'}" if kind == CLOCKS[0] else ""
                aim = f"{duration(more)} longer than transformers; {kept}".rstrip("; ")
                shown = f"{config.model_type}: {kind}", duration(ours), duration(theirs)
                yield Row(*shown, ours / theirs, len(rounds), aim=aim)


def _seconds(folder: Path, whose: str) -> tuple[float, float]:
    command = [sys.executable, "-W", "ignore", "-c", CODE, str(folder), whose]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    by_clock, of_processor = map(float, done.stdout.split())
    return by_clock, of_processor
