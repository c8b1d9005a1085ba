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
    "same_inputs": "weights, compared with the model's on the same queries and keys",
    "separate_pass": "weights, compared with a separate run of eager attention",
    "context": "context",
    "projections": "query, key and value, recomputed from the layer's input",
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
    st.text(
        f"Largest differences between recomputed numbers and the model's own, over {len(proof)} heads in {precision}: "
        + "; ".join(known)
        + ".",
        width="stretch",
    )
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
    "If torch finds a GPU, selfattn uses the GPU. On an NVIDIA H200 (2026-11-26), hidden states and the effects of "
    "hiding words or removing heads differed by at most 0.00001 from those on the CPU. "
    "Run `make gpu-check` to compare your GPU with your CPU. "
    "docs/support.md lists the model types that selfattn can open, with their measured errors."
)

st.markdown("**The proof: recompute every head's weights, and compare them with the model's**")
st.caption(
    "The model's fast attention doesn't report its weights. So selfattn's own attention code (the kernel) recomputes the "
    "weights from each layer's queries and keys. The proof compares them with the weights of the model's slower (eager) "
    "attention, in every head."
)
if not encoder.recomputable:
    st.info("For this encoder, selfattn shows the weights that the model itself reports. So there is nothing to prove.")
else:
    text = st.text_input("Text", SENTENCES[0], key="proof_text")
    asked = (encoder_key(encoder), text)
    if st.button("Run the proof", key="run_proof"):
        session.PROOF.set((asked, run_proof(encoder, text)))
    if session.PROOF.get()[0] == asked:
        show_proof(session.PROOF.get()[1], encoder.dtype)
