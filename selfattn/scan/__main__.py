"""Define the command line of a scan: `selfattn scan INPUT --output DIR`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from selfattn.encoders.capture import Head
from selfattn.encoders.errors import LoadError, NotRecomputable, OutOfMemory
from selfattn.encoders.loading import DTYPES
from selfattn.scan.job import PART_ROWS, Job, run
from selfattn.scan.output import ScanError
from selfattn.scan.ray_engine import ray_engine
from selfattn.scan.tables import InputError
from selfattn.scan.target import run_target

MAX_REJECTS = 0.1  # share of the rows

DESCRIPTION = """\
Measure what a word attends to, in every head of an encoder, over a table of any size.

INPUT is a CSV, JSON Lines or Parquet file, or a folder of such files, with the columns sentence, word and (if known) sense.
With --word or --words, all texts are searched for these words. INPUT may then also be plain text (.txt, one text per line), and
a table needs only a column sentence or text.
Results are written to DIR/parts/part-*.parquet, with a row for each occurrence of the word. Rows that can't be used are written
to DIR/rejects/part-*.csv, with the reasons. With --target, DIR gets other tables.
"""

EPILOG = """\
examples:
  selfattn scan sentences.csv --output scan
  selfattn scan corpus.txt --output scan --word bank --word river --heads L5H10,L0H4
  selfattn scan opinions.csv --output carry --model distilbert-base-uncased-finetuned-sst-2-english --target class=POSITIVE
  selfattn scan corpus/ --output scan --model bert-base-uncased --device cuda --dtype bfloat16
  selfattn scan corpus/ --output /shared/scan --engine ray --address auto

If a scan is stopped or killed, run the same command again to continue. Read the result with
selfattn.scan.read_scan("scan"), with any Parquet reader, or on the dashboard's page Senses.

exit status:
  0    done
  1    done, but rows were rejected and --strict was given
  2    wrong options, unreadable input, or an output folder with other files
  3    done, but more than --max-rejects of the rows were rejected
  130  stopped
"""


def main(arguments: Sequence[str] | None = None, prog: str = "python -m selfattn.scan") -> int:
    """Run the command line, and return the exit status."""
    command = parser(prog)
    options = vars(command.parse_args(arguments))
    strict, max_rejects, listed, target = map(options.pop, ("strict", "max_rejects", "listed", "target"))
    engine, address, workers = map(options.pop, ("engine", "address", "workers"))
    if engine != "ray" and (address or workers):
        command.error("--address and --workers need --engine ray.")
    if not 0 <= max_rejects <= 1:
        command.error(f"--max-rejects must be a share of the rows (0 to 1), got {max_rejects}.")
    try:
        options["words"] = (*options["words"], *_listed(listed))
        if target is None:
            outcome = run(Job(**options), ray_engine(address, workers) if engine == "ray" else None, _bar)
        elif options["words"] or options["heads"] or options["vectors"] or options["sources"] or engine == "ray":
            raise InputError(
                "--target measures whole texts. Leave out --word, --words, --heads, --vectors, --sources, --engine."
            )
        else:
            with tqdm(unit="pass", mininterval=0.5) as bar:

                def show(done: int, total: int) -> None:
                    bar.total = total
                    bar.update(done - bar.n)

                outcome = run_target(Job(**options), target, show)
    except (InputError, ScanError, LoadError, NotRecomputable, OutOfMemory, OSError) as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped. Run the same command again to continue.", file=sys.stderr)
        return 130
    rejects = "rejects.csv" if target else "rejects/"
    rejected = f"{outcome.n_rejected:,} rejected (see {rejects})" if outcome.n_rejected else "none rejected"
    skipped = f", {outcome.n_skipped:,} empty line(s) skipped" if outcome.n_skipped else ""
    without = f", {outcome.n_without:,} text(s) without any of the words" if options["words"] else ""
    occurrences = "" if target else f"{outcome.n_occurrences:,} occurrence(s) in "
    counted = f"{occurrences}{outcome.n_texts:,} text(s)"
    print(f"{counted}, {rejected}{skipped}{without}: {options['output']}", file=sys.stderr)
    if outcome.n_rejected > max_rejects * (outcome.n_rows - outcome.n_without):
        print(f"More than {max_rejects:.0%} of the rows were rejected (--max-rejects).", file=sys.stderr)
        return 3
    return int(strict and outcome.n_rejected > 0)


def parser(prog: str) -> argparse.ArgumentParser:
    """Return the parser of the options."""
    options = argparse.ArgumentParser(
        prog=prog, description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = options.add_argument
    add(
        "source",
        metavar="INPUT",
        help="a .csv, .tsv, .jsonl, .parquet or (with --word) .txt file, or a folder of these",
    )
    add("--word", metavar="WORD", dest="words", action="append", default=[], help="a word to search for; repeatable")
    add("--words", metavar="FILE", dest="listed", help="a file of words to search for, one per line")
    add("--heads", metavar="HEADS", type=_parsed_heads, help="measure only these heads: L5H10,L0H4 (default: all)")
    add(
        "--output", metavar="DIR", required=True, help="a new folder, or a stopped scan's folder, to continue that scan"
    )
    add("--model", help="a Hub id or folder (default: the bundled encoder)")
    add("--revision", help="the Hub revision")
    add("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    add("--dtype", default="float32", choices=DTYPES, help="default: float32")
    add("--vectors", action="store_true", help="also write the word's vector after the embedding and each layer")
    add("--sources", action="store_true", help="also write the three words whose hiding changes the word's vector most")
    add(
        "--target",
        metavar="TARGET",
        help="class=NAME or similarity=TEXT: measure how much each word and head changes the score of the class NAME or the "
        "similarity to TEXT. For a cross-encoder, put the second texts in a column named pair",
    )
    add("--strict", action="store_true", help="exit with status 1 if any row is rejected")
    add(
        "--max-rejects",
        metavar="SHARE",
        type=float,
        default=MAX_REJECTS,
        help=f"allowed fraction of rejected rows, from 0 to 1; above it, exit with status 3 (default: {MAX_REJECTS})",
    )
    add(
        "--part-rows",
        type=_positive,
        default=PART_ROWS,
        help=f"rows per output file; memory must hold all rows of one file (default: {PART_ROWS:,})",
    )
    add(
        "--batch-tokens",
        type=_positive,
        help="largest number of tokens in a batch, padding included (default: depends on the device)",
    )
    add(
        "--engine",
        default="local",
        choices=("local", "ray"),
        help='run in one process, or on Ray (pip install "selfattn[ray]")',
    )
    add("--address", help='a Ray cluster\'s address, or "auto" on a machine of the cluster (default: start Ray here)')
    add("--workers", type=_positive, help="number of Ray workers (default: one per GPU; without a GPU, one per core)")
    return options


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def _parsed_heads(text: str) -> tuple[Head, ...]:
    try:
        return tuple(sorted({Head.named(name) for name in text.split(",")}))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _listed(file: str | None) -> list[str]:
    """Return the words of a file that has one word per line. Raises InputError, OSError."""
    if file is None:
        return []
    try:
        words = Path(file).read_text("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise InputError(f"{file} is not valid UTF-8. Save it as UTF-8.") from None
    if not any(map(str.strip, words)):
        raise InputError(f"{file} has no words. Write one word per line.")
    return [word for word in words if word.strip()]


def _bar(done: int, total: int):
    """Show a progress bar, and return its update function."""
    return tqdm(initial=done, total=total, unit="row", unit_scale=False, mininterval=0.5, smoothing=0.1).update


if __name__ == "__main__":
    sys.exit(main())
