"""Show the loaded encoder, and compare selfattn's recomputed attention with the model's own."""

import pandas as pd
import streamlit as st

from selfattn.analysis.proof import prove
from selfattn.dashboard import session
from selfattn.dashboard.cache import encoder_key
from selfattn.dashboard.encoder_picker import current_encoder, show_encoder
from selfattn.dashboard.figures import heading
from selfattn.dashboard.queue import costly_slot
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.families import SENTENCES
from selfattn.numbers import error
from selfattn.tidy_tables import csv_text

ERRORS = {
    "same_inputs": "weights, against the model's attention on the same inputs",
    "separate_pass": "weights, against a separate pass with eager attention",
    "context": "context",
    "projections": "query, key and value from the layer's input",
}


def facts(encoder: Encoder) -> pd.DataFrame:
    lines = {
        "name": encoder.title,
        "family": encoder.family + (f" ({encoder.note})" if encoder.note else ""),
        "revision": encoder.revision or "none: a local folder",
        "sha256 of the weights": encoder.digest,
        "sha256 of weights, configuration and tokeniser": encoder.content,
        "parameters": f"{sum(parameter.numel() for parameter in encoder.model.parameters()):,}",
        "layers × heads": f"{encoder.n_layers} × {encoder.n_heads}",
        "d_model, d_head": f"{encoder.d_model}, {encoder.d_head}",
        "longest text": f"{encoder.max_tokens:,} tokens",
        "device, precision": f"{encoder.device}, {encoder.dtype}",
        "attention": "recomputed" if encoder.recomputable else f"shown, not recomputed: {encoder.reason}",
        "removal of heads": "verified at load" if encoder.patchable else f"not possible: {encoder.patch_reason}",
    }
    return pd.DataFrame({"": lines.keys(), "value": lines.values()})


def run_proof(encoder: Encoder, text: str) -> pd.DataFrame:
    encode_or_stop(encoder, text, "Text")
    bar = st.progress(0.0)
    with costly_slot() as go_on:

        def show(done: int, total: int) -> None:
            go_on()
            bar.progress(done / total, f"Layer {done} of {total}")

        proof = prove(encoder, text, show)
    bar.empty()
    return proof


def show_proof(proof: pd.DataFrame, precision: str) -> None:
    worst = proof[list(ERRORS)].max()
    known = [f"{error(worst[column])} ({label})" for column, label in ERRORS.items() if pd.notna(worst[column])]
    st.text(f"Largest differences over {len(proof)} heads, in {precision}: " + "; ".join(known) + ".", width="stretch")
    layers = proof.groupby("layer")[list(ERRORS)].max().rename(columns=ERRORS)
    st.dataframe(layers.map(lambda value: "not known" if pd.isna(value) else error(value)), width="stretch")
    data = csv_text(proof)
    st.download_button("Every head (CSV)", data, "proof.csv", "text/csv", on_click="ignore", key="proof_csv")


heading("Models and proof")
encoder = current_encoder()
show_encoder(encoder)

st.markdown("**The loaded encoder**")
st.dataframe(facts(encoder), hide_index=True, height="content")

st.caption(
    "If torch finds a GPU, selfattn uses it. On an NVIDIA H200 (2026-11-26), hidden states and effects differed from the "
    "CPU's by at most 0.00001; `make gpu-check` compares them on your GPU. "
    "docs/support.md lists the model types that selfattn can open, with their measured errors."
)

st.markdown("**The proof: recompute every head, and compare it with the model**")
st.caption(
    "The model runs at full speed and reports no attention weights. selfattn's own attention code (the kernel) recomputes them "
    "from each layer's queries and keys. In each head, the proof compares them with the model's own, slower (eager) attention."
)
if not encoder.recomputable:
    st.info("selfattn shows this encoder's weights as the model itself reports them, so there is nothing to prove.")
else:
    text = st.text_input("Text", SENTENCES[0], key="proof_text")
    asked = (encoder_key(encoder), text)
    if st.button("Run the proof", key="run_proof"):
        session.PROOF.set((asked, run_proof(encoder, text)))
    if session.PROOF.get()[0] == asked:
        show_proof(session.PROOF.get()[1], encoder.dtype)
