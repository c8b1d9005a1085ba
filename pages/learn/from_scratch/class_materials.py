"""For class: the lesson plan, links that open a question unanswered, and a worksheet with its answer sheet."""

from urllib.parse import urlencode

import streamlit as st

from pages.learn.from_scratch import worksheet
from pages.learn.from_scratch.lesson_pages import NUMBERS, STOPS
from selfattn.dashboard.figures import show_error
from selfattn.lessons import one_head_by_hand
from selfattn.words import fold, split_words

MINUTES = 4  # a core stop: at most 250 words, two minutes read aloud, and two to vote and do one thing
PLAN = {  # the one thing to do at each stop, after vote and reveal
    "one-vector": "Move the layers from the table up and watch one point become six",
    "soft-lookup": "Turn T down until one drawer is left",
    "projections": "Read one product term by term",
    "dot-product": "Turn the second vector until the score is 0",
    "scaling": "Raise d_k and watch the undivided row",
    "three-words": "Raise the score of *river* and watch the others pay",
    "mix": "Take the sentence with *loan*: which way does the context point now?",
    "residual": "Take *loan*: which number is larger afterwards?",
    "hide-a-word": "Hide each other word in turn",
    "real-head": "Hide *river*, then *loan*",
}
LAST = "Follow *On: guess which word*, and let the class type a sentence of its own. The worksheet is for home"
ASKED = {  # by pupils, at the last stop and at some others
    "Why does *The* count nearly as much as *loan*, 10 % and 12 %?": "Neither does: moves under 21 % are noise, as many go the "
    "wrong way. No single word of this sentence settles the sense; *approved* and *loan* hidden together move *bank* 29 %.",
    "Why does *bank* attend to itself?": "Its key fits its own query, too. What it hands itself changes nothing in the hand-made "
    "head, whose value of *bank* is [0, 0].",
    "Who wrote the numbers?": "Those of the hand-made head, we did. Those of the real encoder come from training alone.",
}


def rows(address: str = "") -> list[tuple[str, str, str]]:
    """The plan: minutes, the stop with its number, linked where an address is known, and the one thing to do."""
    listed = []
    for place, (slug, what) in enumerate(PLAN.items()):
        name = f"{NUMBERS[slug]}. {STOPS[slug].TITLE}"
        begin = MINUTES * place
        listed.append((f"{begin} to {begin + MINUTES}", f"[{name}]({link(address, slug)})" if address else name, what))
    end = MINUTES * len(PLAN)
    return [*listed, (f"{end} to {end + 5}", "A word in two sentences", LAST)]


def show() -> None:
    """At the foot of the guided path: the lesson plan, a link to every question, the sheets to print."""
    with st.expander("For class: a 45-minute lesson, a link to each question, worksheets", icon=":material/school:"):
        address = st.context.url or ""
        table = [f"| {' | '.join(row)} |" for row in rows(address)]
        st.markdown("\n".join(["| minutes | vote and reveal | then do |", "|---|---|---|", *table]))
        st.markdown(
            "**What pupils ask**\n\n" + "\n".join(f"- {question} {answer}" for question, answer in ASKED.items())
        )
        st.markdown("Each link opens a question with its answer hidden. Add `&reveal=yes` to open it answered.")
        lines = (f"{NUMBERS[slug]}. {plain_question(slug)}\n{link(address, slug)}" for slug in STOPS)
        st.code("\n\n".join(lines), language=None, wrap_lines=True)
        show_guess_first(address)
        st.markdown(
            "The worked example and the map of *bank* on paper, for home: print them from the browser, as any stop, a page each."
        )
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
