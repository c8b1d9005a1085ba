"""What `encode_batch` takes over texts of unlike length, and `selfattn site`; `python -m benchmarks.batches_and_site`: kept"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.memory import forget_peak, memory
from benchmarks.table import duration, keep, made_by, size

COMMAND = "python -m benchmarks.batches_and_site"


def batch_peak() -> int:
    """Bytes by which this process's peak rises: 199 short texts and one of 511 tokens, every layer recorded and kept."""
    from selfattn import load_encoder

    encoder = load_encoder(device="cpu")
    encoder.encode("The bank of the river.")  # what the first pass of all allocates for good
    before = forget_peak()
    kept = encoder.encode_batch(["The bank of the river."] * 199 + ["bank " * 509])
    assert len(kept[-1].tokens) == 511
    return memory("VmHWM") - before


def main() -> None:
    """Measure both, each in a process of its own, and keep the table."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.batches_and_site", "batch"]
    peak = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "selfattn", "site", f"{folder}/site"], check=True, capture_output=True)
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        pages, count = len(files), sum(path.stat().st_size for path in files)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    lines = [
        "| What | figure |",
        "|---|---|",
        f"| `encode_batch`, 199 texts of 8 tokens and one of 511: peak memory above the loaded encoder | {size(peak)} |",
        f"| `selfattn site`: seconds of the processor, start included | {duration(seconds)} |",
        f"| `selfattn site`: {pages} files in all | {size(count)} |",
    ]
    print("\n".join(lines))
    keep(f"## batches_and_site\n\n{made_by(COMMAND)}\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["batch"]:
        print(batch_peak())
    else:
        main()
