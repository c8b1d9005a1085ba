"""Compare the heads of two encoders."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from selfattn import examples
from selfattn.analysis.compare import compare_encoders, told_apart, why_no_counterparts
from selfattn.analysis.cosine_parts import cosine_parts
from selfattn.dashboard import session
from selfattn.dashboard.cache import cached, encoder_key
from selfattn.dashboard.copy_as_python import lines, load
from selfattn.dashboard.encoder_picker import pick_second_encoder, short_name
from selfattn.dashboard.figures import say, show_error, show_panel, side_by_side, this_page
from selfattn.dashboard.permissions import beyond_localhost
from selfattn.dashboard.pickers import FIRST, pick_head, settled_head
from selfattn.dashboard.typed_text import encode_or_stop
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.errors import TextError
from selfattn.encoders.pooling import NoPooling
from selfattn.senses import compare_checkpoints
from selfattn.settings import Settings
from selfattn.views import two_encoders as views


def show_over_many(first: Encoder, second: Encoder, chosen: Head, partner: str) -> None:
    (left, right), limits = side_by_side(key="halves_many"), Settings.read()
    drawn = left.container()
    _, table, *_ = session.TABLE_READ.get()
    built_in = (*examples.STATIC_WORD_SENTENCES, *examples.NEUTRAL_SENTENCES)
    sentences = built_in if table is None else table["sentence"].astype(str)
    with left, st.expander("Choose the sentences"):
        typed = st.text_area(
            "Sentences, one per line", "\n".join(sentences), key=session.SENTENCES, bind="query-params", height=140,
            help="If you opened a table on the page Senses, its sentences are the default.",
        )  # fmt: skip
    texts = tuple(line.strip() for line in typed.splitlines() if line.strip())
    if len(texts) > limits.max_rows or len(typed) > limits.max_table_characters:
        most = f"{limits.max_rows:,} sentences and {limits.max_table_characters:,} characters in all"
        show_error(
            f"Expected at most {most}, got {len(texts):,} sentences and {len(typed):,} characters. Remove some sentences."
        )
        return
    make, key = partial(compare_checkpoints, first, second, texts), ("checkpoints", encoder_key(second), texts)
    try:
        with drawn:
            report = cached(first, key, make, "Comparing the checkpoints ...", costly=True)
    except ValueError as error:
        show_error(error)
        return
    for panel, place in zip(views.over_many(report, chosen, len(texts), partner), (drawn, right)):
        with place:
            show_panel(panel)


def show_similarity(first: Encoder, second: Encoder, text: str, names: Sequence[str]) -> None:
    with st.expander("Which word pairs make up the cosine of two texts", key="similarity", on_change="rerun") as opened:
        if not opened.open:
            return
        other = st.text_input("Sentence B", FIRST.second, key=session.B, bind="query-params", width=420)
        sides = [(each, encode_or_stop(each, text, "A"), encode_or_stop(each, other, "B")) for each in (first, second)]
        try:
            before, after = (cosine_parts(*side) for side in sides)
            show_panel(views.similarity(before, after, names))
        except (NoPooling, ValueError, TextError) as error:
            show_error(error)


page = this_page()
first, text, chosen = page.encoder, page.sentence, page.head
with page.beside:
    second = pick_second_encoder(first)
if second is None:
    st.info("Choose a second encoder. Downloading an encoder from the Hub takes a while.")
    st.stop()
one, other = encode_or_stop(first, text, first.title), encode_or_stop(second, text, second.title)
key = ("counterparts", encoder_key(second), first.reader, second.reader)
compare = partial(why_no_counterparts, first, second)
why = cached(first, key, lambda _: compare())
partner = chosen
if why:
    partner = settled_head(second, Head(0, 0), session.SECOND_HEAD)
    say(f"The heads of these encoders don't correspond: {why}. Choose a head of each encoder.")
    with st.container(horizontal=True, gap="large"):
        pick_head(first, chosen, "Head of the first encoder")
        pick_head(second, partner, "Head of the second encoder", session.SECOND_HEAD)
# Visitors on other computers must not see a folder's path.
names = [short_name(each.name) for each in (first, second)] if beyond_localhost() else [*told_apart(first, second)]
if not second.digest:
    names = [short_name(first.name), "the untrained twin"]
elif names[0] == names[1]:
    names = ["the first", "the second"]
twin = "from selfattn.senses import random_twin\nsecond = random_twin(encoder)"
page.python = lines(
    load(first),
    load(second, "second") if second.digest else twin,
    "from selfattn import Head\nfrom selfattn.analysis.compare import compare_encoders",
    f"from selfattn.views.two_encoders import one_sentence\ntext, heads = {text!r}, ({chosen!r}, {partner!r})",
    "compared = compare_encoders(encoder.encode(text), heads[0], second.encode(text), heads[1])",
    f"row, difference, *maps = one_sentence(compared, {names!r}, heads)\nnotebook.chart(difference)",
)
named = "" if why else "counterpart" if second.digest else "untrained twin"
with page.headline:
    say(views.about(names, named))
over_many = st.container()
row, difference, *maps = views.one_sentence(compare_encoders(one, chosen, other, partner), names, (chosen, partner))
for panel, place in zip((row, difference), side_by_side(key="halves_one")):
    with place:
        show_panel(panel)
if named:
    with over_many:
        show_over_many(first, second, chosen, named)
with st.expander("The attention maps of the two heads", expanded=bool(why)):
    for panel, place in zip(maps, side_by_side(key="halves_own")):
        with place:
            show_panel(panel)
if not why and second.digest:
    show_similarity(first, second, text, names)
