"""Test the claim "one head, one relation" of published lessons.

Source of KINDS: Clark et al. 2019, section 3.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from selfattn.dashboard import teaching
from selfattn.dashboard.copy_as_python import load
from selfattn.dashboard.figures import this_page
from selfattn.encoders.encoder import Encoder

KINDS = ("a special token", "itself", "the token before", "the token after", "another token")


def show(encoder: Encoder) -> None:
    picture, beside = teaching.sides()
    with beside:
        teaching.prose(
            'Some published lessons teach "one head, one relation": eight heads are like eight spotlights on eight actors. '
            "The figure shows all heads of this encoder. Each cell names the token that the chosen word attends to most."
        )
        sentence = "The animal didn't cross the street because it was too tired."
        _, encoding = teaching.choose_sentence("many-heads", sentence, encoder)
        this_page().python = f"{load(encoder)}\nnotebook.all_heads(encoder, {encoding.text!r})"
        words = [word.label for word in encoding.words]
        default, key = words.index("it") if "it" in words else 0, f"many-heads.word.{len(words)}"
        index = st.selectbox("Word", range(len(words)), default, format_func=lambda n: words[n], key=key, width=220)
        position = encoding.words[index].start
        heads = favourites(encoding.rows(position), position, encoding.tokens, encoding.special)
        counted = heads["kind"].value_counts().reindex(KINDS, fill_value=0).to_dict()
        kinds = ", ".join(f"{kind} {n}" for kind, n in counted.items() if n)
        question = f"In each of the {len(heads)} heads, this word gives one token the most weight. Which token is it most often?"
        most = max(counted, key=counted.__getitem__)
        answered = teaching.predict("many-heads", question, list(counted), most, f"Number of heads: {kinds}.")
    weights = torch.tensor(heads["weight"].tolist()).reshape(encoding.n_layers, encoding.n_heads)
    labels = [token if len(token) <= 8 else f"{token[:7]}…" for token in heads["token"]]  # "…" marks a cut token
    look = {"numbers": labels, "maximum": 1.0, "cell": (56, 30)}
    chart = teaching.heads_chart(teaching.asked(weights, answered), **look)
    with picture:
        finding = (
            f"Over all heads, the token with the most weight is most often {most}. "
            f"Number of heads, by the token that gets the most weight: {kinds}."
        )
        teaching.steps("favourites", finding, {"The token with the most weight in each head": chart}, answered=answered)
    if not answered:
        return
    teaching.prose(
        f"In **{counted['a special token']} of {len(heads)}** heads, a special token gets the most weight. The weights don't "
        "show whether such a head has an effect, because the special token's value vector may be short or long. A large "
        "weight doesn't prove a grammatical relation."
    )


def favourites(rows: Tensor, position: int, tokens: Sequence[str], special: Sequence[bool]) -> pd.DataFrame:
    """Return the token with the most weight in each head.

    rows (n_layers, n_heads, n): weights from the token at `position`
    """
    weights, places = rows.max(-1)
    nearby = {position: "itself", position - 1: "the token before", position + 1: "the token after"}
    favourite = []
    for head in np.ndindex(*weights.shape):
        place = int(places[head])
        kind = "a special token" if special[place] else nearby.get(place, "another token")
        favourite.append((*head, tokens[place], float(weights[head]), kind))
    return pd.DataFrame(favourite, columns=["layer", "head", "token", "weight", "kind"])
