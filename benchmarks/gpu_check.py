"""Run the checks that need a GPU (`make gpu-check`), and write RESULTS.md.

    python -m benchmarks.gpu_check [--device cuda:1] [--dry]

--dry runs small checks on any device, and writes no file.
Exit status: 0 if all limits are met, 1 if not, 2 without a GPU.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice

import torch

from benchmarks.models import ids, text
from benchmarks.table import keep, made_by, size
from selfattn import Encoder, LoadError, PlacedWord, load_encoder
from selfattn.analysis.hiding import hidden_pair
from selfattn.analysis.removing import removal_effect
from selfattn.encoders.batches import length_batches, tokens_a_pass
from selfattn.encoders.capture import Recorder, run
from selfattn.encoders.loading import available_devices, choose_device
from selfattn.encoders.memory import give_memory_back, is_out_of_memory
from selfattn.examples import PAIRS

CAPTURE, LESSON = 1.10, 1.5  # limits on ratios of times
BORDERLINE = 2  # sentences that may round to another hundredth
WEIGHTS = 1e-5  # limit on the difference from eager weights
STATES, SHARES = 1e-4, 1e-3  # limits on differences from the CPU: hidden states, effects


@dataclass(frozen=True)
class Check:
    """A measurement, printed as a row of a table. holds: True if the limit `bound` is met; None without a limit."""

    what: str
    found: str
    bound: str = ""
    holds: bool | None = None

    def line(self) -> str:
        kept = {None: "", True: "yes", False: "NO"}[self.holds]
        return f"| {self.what} | {self.found} | {self.bound} | {kept} |"


@dataclass(frozen=True)
class Plan:
    """The size of the checks: text lengths in tokens, and numbers of timed rounds, scanned rows and labelled words."""

    lengths: tuple[int, ...] = (16, 128, 512)
    rounds: int = 30
    rows: int = 20_000
    words: int = 32  # built-in labelled words
    judges_time: bool = True


DRY = Plan(lengths=(16,), rounds=2, rows=24, words=1, judges_time=False)


def checks(encoder: Encoder, on_cpu: Encoder, plan: Plan) -> Iterator[Check]:
    """Run every check and yield its rows."""
    numbers = parity, removal, hiding, senses, content, memory_runs_out, seeds
    for check in (*numbers, capture, scan_rate, peak_memory, lesson):
        try:
            for found in check(encoder, on_cpu, plan):
                yield found if plan.judges_time or check in numbers else replace(found, holds=None)
        except ImportError as error:
            yield Check(check.__name__.replace("_", " "), f"not measured: {error}")


def parity(encoder: Encoder, on_cpu: Encoder, plan: Plan) -> Iterator[Check]:
    """Compare attention weights with those of eager attention, and hidden states with those on the CPU."""
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")  # TF32 would round each mantissa to ten bits
    try:
        for n in plan.lengths:
            sentence = text(n)
            encoding, own = encoder.encode(sentence), encoder.reference_weights(sentence)
            weights = max(float((encoding.weights(i) - own[i]).abs().max()) for i in range(encoder.n_layers))
            yield _most(f"attention weights, {n} tokens: largest difference from eager attention", weights, WEIGHTS)
            states = float((encoding.hidden - on_cpu.encode(sentence).hidden).abs().max())
            yield _most(f"hidden states, {n} tokens: largest difference from the CPU's", states, STATES)
    finally:
        torch.set_float32_matmul_precision(precision)


def capture(encoder: Encoder, on_cpu: Encoder, plan: Plan) -> Iterator[Check]:
    """Compare the time of a forward pass that records attention with the time of a plain pass."""
    for n in plan.lengths:
        inputs = {name: tensor.to(encoder.device) for name, tensor in ids(n).items()}
        with torch.no_grad():
            recorded, bare = partial(run, encoder.model, inputs), partial(encoder.model, **inputs)
            recorded(Recorder()), bare()
            pairs = [
                (_seconds(lambda ours=recorded: ours(Recorder()), encoder.device), _seconds(bare, encoder.device))
                for _ in range(plan.rounds)
            ]
        ratio = statistics.median(ours / theirs for ours, theirs in pairs)
        yield _most(f"time of a pass that records attention / time of a plain pass, {n} tokens", ratio, CAPTURE)


def removal(encoder: Encoder, on_cpu: Encoder, plan: Plan) -> Iterator[Check]:
    """Compare the effects of removing heads, computed on this device, with those computed on the CPU."""
    ours, theirs = (removal_effect(each, *_places(each)) for each in (encoder, on_cpu))
    apart = float((ours - theirs).abs().max())
    yield _most("effects of removing each head: largest difference from the CPU's", apart, SHARES)


def hiding(encoder: Encoder, on_cpu: Encoder, plan: Plan) -> Iterator[Check]:
    """Compare the effects of hiding words, computed on this device, with those computed on the CPU."""
    ours, theirs = (hidden_pair(each, *_places(each)) for each in (encoder, on_cpu))
    titles = {"share": "effects of hiding words", "by_head": "effects of hiding words in single heads"}
    for what, title in titles.items():
        apart = max(float((a - b).abs().max()) for a, b in zip(getattr(ours, what), getattr(theirs, what)))
        yield _most(f"{title}: largest difference from the CPU's", apart, SHARES)


def senses(encoder: Encoder, on_cpu: Encoder, plan: Plan) -> Iterator[Check]:
    """Compare this device with the CPU: effects of hiding words in labelled sentences, and the noise level of these effects."""
    from selfattn.examples import labelled_sentences
    from selfattn.senses import hidden_words

    read = labelled_sentences()
    read = read[read["word"].isin(sorted(set(read["word"]))[: plan.words])]
    ours, theirs = (hidden_words(each, read) for each in (encoder, on_cpu))
    for what, where in {"words": "words", "heads": "words in single heads"}.items():
        apart = (getattr(ours, what)["share"] - getattr(theirs, what)["share"]).abs().max()
        title = f"effects of hiding {where}, {len(read)} labelled sentences: largest difference from the CPU's"
        yield _most(title, float(apart), SHARES)
    counts = (each.noise.set_index("share") for each in (ours, theirs))
    apart = float(next(counts).sub(next(counts), fill_value=0).abs().max().max())
    title = f"histogram of effects, {len(read)} labelled sentences: largest difference of a count from the CPU's"
    yield _most(title, apart, BORDERLINE)
    if plan.words >= len(set(labelled_sentences()["word"])):
        found = [f"{each.level.level:.2f}" for each in (ours, theirs)]
        yield Check("noise level on this device, and on the CPU", " and ".join(found), "equal", found[0] == found[1])


def content(encoder: Encoder, on_cpu: Encoder, plan: Plan) -> Iterator[Check]:
    yield _true("the encoder's fingerprint (`content`) is the same as on the CPU", encoder.content == on_cpu.content)


def memory_runs_out(encoder: Encoder, on_cpu: Encoder, plan: Plan) -> Iterator[Check]:
    """Check the handling of out-of-memory errors and missing devices."""
    try:
        torch.empty(2**50, dtype=torch.uint8, device=encoder.device)
        known = False
    except Exception as error:
        known = is_out_of_memory(error)
    yield _true("an out-of-memory error is recognised", known)
    give_memory_back()
    finite = bool(encoder.encode("The bank of the river.").hidden.isfinite().all())
    yield _true("the encoder runs after an out-of-memory error", finite)
    try:
        choose_device(f"{encoder.device.split(':')[0]}:99")
        refused = False
    except LoadError:
        refused = True
    yield _true("device number 99 is refused", refused)


def seeds(encoder: Encoder, on_cpu: Encoder, plan: Plan) -> Iterator[Check]:
    """Check that `random_twin` leaves the random generator unchanged."""
    from selfattn.senses import random_twin

    kind = encoder.device.split(":")[0]
    state = {"cuda": torch.cuda.get_rng_state, "mps": torch.mps.get_rng_state}.get(kind, torch.get_rng_state)
    before = state()
    random_twin(encoder)
    yield _true("`random_twin` leaves the random generator's state unchanged", torch.equal(state(), before))


def scan_rate(encoder: Encoder, on_cpu: Encoder, plan: Plan) -> Iterator[Check]:
    """Compare the rate of a corpus scan with the rate of plain forward passes."""
    from selfattn.scan.measure import measure
    from selfattn.scan.tables import Row

    sentences = islice(cycle((pair.first, pair.word) for pair in PAIRS), plan.rows)
    rows = [Row(i, "table.csv", i + 2, *each, None) for i, each in enumerate(sentences)]
    tokens = [encoder.tokenize(row.sentence) for row in rows]
    batches = list(length_batches(tokens, lambda one: len(one.ids), tokens_a_pass(encoder.device)))

    def bare() -> None:
        with torch.no_grad():
            for batch in batches:
                encoder.model(**encoder.inputs(batch))

    def job() -> int:
        return measure(encoder, rows)[0].num_rows

    job(), bare()
    seconds, least = _seconds(job, encoder.device), _seconds(bare, encoder.device)
    yield Check("rate of a corpus scan", f"{len(rows) / seconds:,.0f} rows a second")
    # The next ratio needn't meet a limit: on a GPU, a scan's other work takes longer than its forward passes.
    yield Check("rate of a corpus scan / rate of plain passes", f"{least / seconds:.2f}")


def peak_memory(encoder: Encoder, on_cpu: Encoder, plan: Plan) -> Iterator[Check]:
    """Compare the peak memory of a pass that records attention with that of an eager pass."""
    if not encoder.device.startswith("cuda"):
        yield Check("peak memory", "not measured: only CUDA reports it")
        return
    inputs, peaks = encoder.inputs([encoder.tokenize(text(plan.lengths[-1]))]), {}
    passes = {"recorded": lambda: run(encoder.model, inputs, Recorder()), "eager": lambda: encoder.eager(inputs)}
    for name, forward in passes.items():
        with torch.no_grad():
            forward()
            give_memory_back()
            torch.cuda.reset_peak_memory_stats(encoder.device)
            before = torch.cuda.memory_allocated(encoder.device)
            forward()
        peaks[name] = torch.cuda.max_memory_allocated(encoder.device) - before
    found = f"{size(peaks['recorded'])}; eager pass: {size(peaks['eager'])}"
    what = f"peak memory of a pass that records attention, {plan.lengths[-1]} tokens"
    yield Check(what, found, "less than the eager pass", peaks["recorded"] < peaks["eager"])


def lesson(encoder: Encoder, on_cpu: Encoder, plan: Plan) -> Iterator[Check]:
    """Check that one matrix product is not much slower for 100 words than for 10."""
    from selfattn.lessons.recurrence import race

    found = race(lengths=(10, 100), repeats=min(plan.rounds, 15), device=encoder.device).set_index(["way", "words"])
    one, loop = (found["milliseconds"][way] for way in ("one matrix product", "recurrent, word by word"))
    yield _most("one matrix product: time for 100 words / time for 10 words", one[100] / one[10], LESSON)
    yield Check("recurrent net: time for 100 words / time for 10 words", f"{loop[100] / loop[10]:.3g}")


def _most(what: str, value: float, bound: float) -> Check:
    return Check(what, f"{value:.3g}", f"at most {bound:g}", bool(value <= bound))  # False for NaN too


def _true(what: str, holds: bool) -> Check:
    return Check(what, "yes" if holds else "no", "yes", holds)


def _places(encoder: Encoder) -> list[PlacedWord]:
    return [encoder.locate(sentence, PAIRS[0].word)[0] for sentence in PAIRS[0].sentences[:2]]


def _seconds(function: Callable[[], object], device: str) -> float:
    """Return the seconds that a call takes until the GPU has finished."""
    wait = {"cuda": torch.cuda.synchronize, "mps": torch.mps.synchronize}.get(device.split(":")[0], lambda: None)
    wait()
    start = time.perf_counter()
    function()
    wait()
    return time.perf_counter() - start


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_check", description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="auto", help="cuda, cuda:1 or mps (default: auto)")
    parser.add_argument("--dry", action="store_true", help="run small checks on any device, and write no file")
    options = parser.parse_args(arguments)
    try:
        device = choose_device("cpu" if options.dry and options.device == "auto" else options.device)
    except LoadError as error:
        parser.error(str(error))
    if device == "cpu" and not options.dry:
        found = ", ".join(available_devices())
        print(f"Expected a GPU, but torch finds only {found}. To run small checks on the CPU, add `--dry`.")
        return 2
    encoder, on_cpu = load_encoder(device=device), load_encoder(device="cpu")
    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else device
    lines = [f"| On {name} | measured | limit | met |", "|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    held = []
    for check in checks(encoder, on_cpu, DRY if options.dry else Plan()):
        held.append(check.holds)
        lines.append(check.line())
        print(lines[-1], flush=True)
    if not options.dry:
        keep(f"## gpu_check\n\n{made_by('make gpu-check')}\n\n" + "\n".join(lines) + "\n")
    return int(False in held)


if __name__ == "__main__":
    raise SystemExit(main())
