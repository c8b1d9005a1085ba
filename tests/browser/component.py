"""Show a component in Chromium as Streamlit does, but without a server."""

import base64
from pathlib import Path

import pytest
import streamlit

from selfattn.export.component_page import javascript, stylesheet

FONT = next(Path(streamlit.__file__).parent.glob("static/static/media/SourceSansVF-Upright*.woff2"))
FACE = (
    '@font-face { font-family: "Source Sans"; font-weight: 200 900;'
    f" src: url(data:font/woff2;base64,{base64.b64encode(FONT.read_bytes()).decode()}); }}"
)
MOUNT = """async ([script, style]) => {
    const shadow = document.querySelector("main").attachShadow({mode: "open"});
    shadow.append(Object.assign(document.createElement("style"), {textContent: style}));
    const {default: render} = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})));
    window.shadow = shadow;
    window.sent = [];
    const setStateValue = (name, value) => window.sent.push([name, value]);
    window.triggers = [];
    const setTriggerValue = (name, value) => window.triggers.push([name, value]);
    window.show = (data) => render({data, parentElement: shadow, setStateValue, setTriggerValue});
}"""


@pytest.fixture(scope="session")
def component_page(browser):
    """Yield a browser page that all tests share, and the list that collects its errors."""
    from tests.browser.conftest import watch  # conftest imports this module

    page = browser.new_context().new_page()
    yield page, watch(page)
    page.context.close()


@pytest.fixture
def open_component(component_page):
    """Return a function that shows a component. The test fails if the page has errors or sends requests to other machines."""
    page, trouble = component_page
    trouble.clear()

    def opened(name, data, width=1100, scheme="light", motion="reduce", face=FACE):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion=motion)
        page.mouse.move(0, 0)
        page.goto("about:blank")  # removes the component of the previous call
        page.set_content(f"<style>{face} :root {{color-scheme: light dark}} body {{margin: 0}}</style><main></main>")
        page.evaluate(MOUNT, [javascript(name), stylesheet(name)])
        page.evaluate("data => { show(data); }", data)
        page.evaluate("() => document.fonts.ready.then(() => {})")
        settle(page)
        return page

    yield opened
    assert not trouble, trouble


def settle(page):
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def focused(page):
    return page.evaluate("shadow.activeElement.dataset.id ?? shadow.activeElement.getAttribute('aria-label')")


BOXES = """selector => [...shadow.querySelectorAll(selector)]
    .filter(node => node.textContent && node.checkVisibility({visibilityProperty: true}) && !node.closest('.scrolled'))
    .flatMap((node, i) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return [...range.getClientRects()].map(box => [`${i} ${node.textContent}`, box.left, box.top, box.right, box.bottom]);
    }).filter(([, left, , right]) => right - left > 1)"""


def overlaps(boxes):
    """Return the pairs of texts that overlap by more than 1 pixel across and 4 pixels down."""
    pairs = []
    for i, (one, left, top, right, bottom) in enumerate(boxes):
        for other, left2, top2, right2, bottom2 in boxes[i + 1 :]:
            if one != other and min(right, right2) - max(left, left2) > 1 and min(bottom, bottom2) - max(top, top2) > 4:
                pairs.append((one, other))
    return pairs


def cut_or_overlapping(page, texts, widths):
    """Return (width, faults) for each window width at which texts are cut off or overlap."""
    found = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        settle(page)
        boxes = page.evaluate(BOXES, texts)
        assert len(boxes) > 10
        faults = [text for text, left, _, right, _ in boxes if left < -0.5 or right > width + 0.5] + overlaps(boxes)
        if (scrolled := page.evaluate("document.documentElement.scrollWidth")) > width:
            faults.append(scrolled)
        found += [(width, faults)] if faults else []
    return found


def contrast(one, other):
    """Return the contrast ratio of two colours (WCAG 2.2)."""

    def luminance(colour):
        parts = [each / 255 for each in colour]
        parts = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
        return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), parts))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
