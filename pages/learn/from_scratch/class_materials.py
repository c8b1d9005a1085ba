"""For class: the lesson plan, links that open a question unanswered, and a worksheet with its answer sheet."""

from urllib.parse import urlencode

import streamlit as st

from pages.learn.from_scratch import worksheet
from pages.learn.from_scratch.lesson_pages import NUMBERS, STOPS
from selfattn.dashboard.figures import show_error
from selfattn.lessons import one_head_by_hand
from selfattn.words import fold, split_words

MINUTES = 4  # a core stop: at most 250 words, two minutes read aloud, and two to guess and try
PLAN = (  # the stops, and what to do there
    (("one-vector",), "Vote, then reveal. Move the layers from 0 up and watch one point become six"),
    (("soft-lookup", "projections", "dot-product"), "Vote at each; turn T down, and read one product term by term"),
    (("scaling", "three-words"), "Raise the score of *river* and watch the others pay; worksheet part 1"),
    (("mix", "residual"), "Vote at each; take *loan*, and watch the arrow turn"),
    (("hide-a-word",), "Vote, then hide each other word in turn; worksheet part 3"),
    (("real-head",), "Vote, then reveal: the same in a real encoder"),
)
LAST = "Follow *On: guess which word*, and let the class type a sentence of its own; part 4 is for home"


def rows(address: str = "") -> list[tuple[str, str, str]]:
    """The plan: minutes, the stops with their numbers, linked where an address is known, and what to do."""
    listed, begin = [], 0
    for slugs, what in PLAN:
        end = begin + MINUTES * len(slugs)
        names = {slug: f"{NUMBERS[slug]}. {STOPS[slug].TITLE}" for slug in slugs}
        named = (f"[{name}]({link(address, slug)})" if address else name for slug, name in names.items())
        listed.append((f"{begin} to {end}", "; ".join(named), what))
        begin = end
    return [*listed, (f"{begin} to {begin + 5}", "A word in two sentences", LAST)]


def show() -> None:
    """At the foot of the guided path: the lesson plan, a link to every question, the sheets to print."""
    with st.expander("For class: a 45-minute lesson, a link to each question, worksheets", icon=":material/school:"):
        address = st.context.url or ""
        table = [f"| {' | '.join(row)} |" for row in rows(address)]
        st.markdown("\n".join(["| minutes | stops | what to do |", "|---|---|---|", *table]))
        st.markdown("Each link opens a question with its answer hidden. Add `&reveal=yes` to open it answered.")
        lines = (f"{NUMBERS[slug]}. {plain_question(slug)}\n{link(address, slug)}" for slug in STOPS)
        st.code("\n\n".join(lines), language=None, wrap_lines=True)
        show_guess_first(address)
        st.markdown("The worked example and the map of *bank* on paper, a page each: print them from the browser.")
        for name, answers in (("Worksheet", False), ("Answer sheet", True)):
            file = f"self-attention-{name.lower().replace(' ', '-')}.html"
            st.download_button(name, worksheet.page(answers), file, "text/html", on_click="ignore", key=f"class.{name}")


def show_guess_first(address: str) -> None:
    st.markdown("**Guess first**, about two sentences of your own: each pupil clicks a word, and then sees the answer.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first, second = (
            st.text_input(f"Sentence {side}", text, key=f"class.{side}", max_chars=500)
            for side, text in zip("AB", one_head_by_hand.REAL.sentences)
        )
        others = {fold(word) for word in split_words(second)}
        spelled = {fold(word): word for word in reversed(split_words(first)) if fold(word) in others}
        shared = sorted(spelled.values(), key=len, reverse=True)
        if shared:
            word = st.selectbox("Word", shared, key="class.word", width=160)
    if not shared:
        show_error("No word stands in both sentences. Change one of them so that they share a word.")
        return
    asked = f'Which word would change "{word}" most?\nA: {first}\nB: {second}'
    root = address.partition("?")[0].rpartition("/")[0]
    query = urlencode(guess_first(first, second, word=word))
    st.code(f"{asked}\n{root}/?{query}", language=None, wrap_lines=True)


def guess_first(*sentences: str, word: str) -> dict[str, str]:
    """What the address of the main view holds to ask which word changes this one most in A and B (and C, the control)."""
    return {"model": "all-MiniLM-L6-v2", **dict(zip("abc", sentences)), "word": word, "guess": "yes"}


def plain_question(slug: str) -> str:
    """What the class sees: the question with its choices, as plain text."""
    stop = STOPS[slug]
    return f"{stop.QUESTION} ({' / '.join(sorted(stop.OPTIONS))})".replace("*", "").replace("`", "")


def link(address: str, stop: str) -> str:
    return f"{address.partition('?')[0]}?stop={stop}"
