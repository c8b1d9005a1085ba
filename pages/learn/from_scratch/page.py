"""The guided path through self-attention, one stop at a time: a picture, an idea, a question; the answer moves the picture.

The address names the stop (?stop=hide-a-word), so that a link can open any of them.
"""

import zlib
from typing import Any

import streamlit as st

from pages.learn.from_scratch import class_materials
from pages.learn.from_scratch.lesson_pages import CORE, MERGED, NUMBERS, PARTS, STOPS, beside, neighbours
from selfattn.dashboard import session, teaching
from selfattn.dashboard.figures import current_theme, heading, show_panel, this_page
from selfattn.dashboard.live import show_live
from selfattn.dashboard.navigation import show_link
from selfattn.lessons.one_head_by_hand import REAL
from selfattn.lessons.terms import TERMS
from selfattn.panel import Live
from selfattn.views.stage import Scene, stage_data, stage_panel

# Arrow and Page keys change the stop: a projector's remote sends them. PageDown first scrolls to the end of a long stop.
# Fields that use these keys keep them.
KEYS = """
<script>
if (!window.selfattnSteps) {
  window.selfattnSteps = true;
  const steps = { ArrowRight: "next", PageDown: "next", ArrowLeft: "previous", PageUp: "previous" };
  const own = "input, textarea, select, canvas, [role=slider], [role=radio], [role=listbox], [role=grid]";
  addEventListener("keydown", (event) => {
    const step = steps[event.key], button = step && document.querySelector(`.st-key-${step} button`);
    if (!button || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || event.repeat) return;
    if (event.composedPath()[0].closest?.(own)) return; // within a component, too
    event.preventDefault();
    const main = document.querySelector("[data-testid=stMain]");
    const below = main.scrollHeight - main.clientHeight - main.scrollTop;
    const way = { PageDown: below > 40 && 1, PageUp: main.scrollTop > 40 && -1 }[event.key];
    if (way) return main.scrollBy({ top: way * 0.85 * main.clientHeight });
    button.click();
    main.scrollTo(0, 0);
  });
}
</script>
"""

# A printed stop is one page: its picture beside its question and the answer, without what one would click.
CLICKED = ("Expander", "TextInput", "NumberInput", "Slider", "Selectbox", "Checkbox", "Button", "Popover")
PRINT = (
    "@media print{@page{size:A4;margin:8mm}[data-testid=stSidebar],[data-testid=stHeader],.st-key-ways_on,.st-key-for_class,"
    "[data-testid=stLayoutWrapper]:has(>.st-key-strip),"
    f"[data-testid=stMain] :is({','.join(f'[data-testid=st{each}]' for each in CLICKED)}){{display:none!important}}"
    "[data-testid=stMainBlockContainer]{padding:0!important;zoom:.62}.st-key-sides{display:flex!important}}"
)

# For a projector: hide the sidebar and enlarge the stop, its picture as wide as the window, so that the last row can read it.
PROJECTOR = (
    "[data-testid=stSidebar],[data-testid=stHeader],[data-testid=stMain] .st-key-for_class{display:none}"
    "@media(min-width:1000px){[data-testid=stMainBlockContainer]{zoom:1.35;padding:.4rem 1.5rem}"
    ".st-key-sides{flex-direction:column!important}.st-key-sides>*{width:100%!important;max-width:none!important;flex:none!important}"
    ".st-key-sides [data-testid=stRadio] [role=radiogroup]{flex-flow:row wrap!important;gap:0 1.5rem}}"
    "[data-testid=stLayoutWrapper]:has(>.st-key-strip){padding-top:.3rem!important;margin-top:-1.8rem!important}"
)


def go(slug: str) -> None:
    """Put a stop into the address, and remove ?reveal=yes: it belongs to one stop only."""
    st.query_params["stop"] = slug  # first, so that the history keeps ?reveal=yes for the previous stop
    st.query_params.pop("reveal", None)


def step(way: str, slug: str | None) -> None:
    """Draw the button Previous or Next; it is disabled at the end of the path."""
    icon = f":material/arrow_{'back' if way == 'Previous' else 'forward'}:"
    st.button(way, icon=icon, on_click=go, args=(slug,), disabled=slug is None, key=way.lower())


def show_strip(projected: bool) -> None:
    """Draw the strip that stays in sight: Previous, the picker of stops, Next."""
    st.html(
        "<style>.st-key-sides>:last-child{flex:1 1 280px!important;max-width:760px}"  # beneath the picture as wide as it
        ".st-key-tools_later{display:none}"  # until the answer
        "[data-testid=stLayoutWrapper]:has(>.st-key-strip){position:sticky;top:0;z-index:90;margin-top:-2rem;"
        f"background:{current_theme().background};padding:2.4rem 0 .3rem}}{PRINT}{PROJECTOR if projected else ''}</style>{KEYS}",
        unsafe_allow_javascript=True,
    )
    with st.container(key="strip", horizontal=True, vertical_alignment="center", width=teaching.TEXT_WIDTH):
        step("Previous", before)
        st.selectbox(
            "Stop", list(STOPS), format_func=lambda slug: f"{NUMBERS[slug]}. {STOPS[slug].title}", key=session.STOP,
            label_visibility="collapsed", on_change=lambda: go(session.STOP.get()),
        )  # fmt: skip
        step("Next", after)
        st.toggle("Projector", key=session.PROJECTOR, bind="query-params", help="Larger type, the menu folded away.")


def outline() -> list[dict[str, Any]]:
    """The parts of the path, each with its first stop."""
    now = PARTS.index(stop.part)
    first = {STOPS[slug].part: slug for slug in reversed(CORE)}
    states = ("past" if at < now else "now" if at == now else "to come" for at in range(len(PARTS)))
    return [{"text": part, "stop": first[part], "state": state} for part, state in zip(PARTS, states)]


def choose(_: str, clicked: Any) -> None:
    """Follow a click on a part of the path. It comes from a browser."""
    if clicked in STOPS:
        go(clicked)


def show_stage(scene: Scene | None, answered: bool) -> None:
    """Show the stage: one component at one place for all stops, so that its picture moves on. Without a scene, the outline."""
    if scene and answered:
        show_panel(stage_panel(scene, outline(), here), choose=choose, states=("stop",))
    else:
        live = Live("stage", stage_data(scene, outline(), here, answered=False))
        show_live(live, f"{live.component} {live.data['key']}", choose, "stop")


def ask() -> bool:
    """Tell the idea, ask the question, explain the new terms, and return whether it is answered."""
    teaching.prose(stop.idea)
    options = sorted(stop.options, key=lambda option: zlib.crc32(option.encode()))  # an order that hides the answer
    answered = teaching.predict(here, stop.question, options, stop.answer, stop.reason)
    teaching.explain(*(term for term in stop.terms if TERMS[term] not in stop.idea))
    return answered


def show_ways_on() -> None:
    """Draw links to related stops; at the last core stop also a link to the main view, in the same tab."""
    if here == CORE[-1]:
        asked = {"model": "all-MiniLM-L6-v2", **dict(zip("abc", REAL.sentences)), "word": REAL.word, "guess": "yes"}
        show_link("", "On: guess which word changes “bank” most, in any sentence", "arrow_forward", **asked)
    if more := [slug for slug in beside(here) if slug != here]:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown("More beside it:", width="content")
            for slug in more:
                st.button(STOPS[slug].title, key=f"more.{slug}", on_click=go, args=(slug,), type="tertiary")


asked = st.query_params.get("stop", "")
here = next((slug for slug in (MERGED.get(asked, asked),) if slug in STOPS), CORE[0])
stop, this_page().name = STOPS[here], f"from-scratch-{here}"
before, after = neighbours(here)
session.STOP.set(here)
projected = st.session_state.get(session.PROJECTOR, st.query_params.get(session.PROJECTOR) == "true")
show_strip(projected)
heading(stop.title)
picture, numbers = teaching.sides()
draw, scene = stop.function(), None
with picture:
    place = st.container()  # of the stage, at all stops
with numbers:
    answered = ask()
    if here in CORE[:-1]:
        with st.container(key="tools" if answered else "tools_later"):
            scene = draw()
    if answered:
        teaching.take(stop.take)
    if here not in CORE:
        draw(picture, answered)
with place:
    if here in CORE or not projected:  # beside the core a projected picture begins at once
        show_stage(scene, answered)
    if here == CORE[-1]:
        draw(answered)
if answered and (details := stop.function(f"{here.replace('-', '_')}_details")):
    details()
with st.container(key="ways_on"):
    show_ways_on()
with st.container(key="for_class"):
    class_materials.show()
