"""Hypothesis strategies for hostile texts and links."""

from urllib.parse import quote, urlencode

from hypothesis import strategies as st

MARKUP = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "</svg></style></title>",
    "<iframe src='javascript:alert(1)'>",
    "&lt;b&gt;&#x3c;b&#x3e;",
    "**bold** _it_ ~~no~~",
    "# Heading",
    "[link](javascript:alert(1))",
    "![picture](http://127.0.0.1:9/x.png)",
    ":red[red] :material/home: :smile:",
    "$$\\frac{1}{0}$$ \\(x\\)",
    "`code` ```fence",
    "| a | b |\n|---|---|",
    "datum.value + alert(1)",
    '"]; alert(1); //',
    "'+datum+'",
    "\\u0000\\x00\\",
    "{{7*7}} ${7*7} #{7*7} %s %d",
    "' OR 1=1 --",
    "=HYPERLINK(1)",
    "../../../../etc/passwd",
    "\x1b[31mred\x1b[0m",
)

BIDI = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c"
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u180e\ufe0f\U000e0041\U000e007f"
CONTROLS = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0xFFFE, 0xFFFF]))
WORDS = ("bank", "The", "river", "loan", "##ing", "[CLS]", "[SEP]", "<s>", "</s>", "▁", "Ġ", "[MASK]", "[PAD]")


def _plane(plane: int) -> st.SearchStrategy[str]:
    first = plane * 0x10000
    return st.text(st.characters(min_codepoint=max(first, 0x20), max_codepoint=first + 0xFFFF), max_size=40)


def texts() -> st.SearchStrategy[str]:
    plain = st.sampled_from(WORDS)
    pieces = st.one_of(
        plain,
        st.sampled_from(MARKUP),
        st.integers(0, 16).flatmap(_plane),
        st.text(st.characters(), max_size=40),
        st.text(st.sampled_from(CONTROLS), max_size=10),
        st.text(st.characters(categories=["Cs"]), min_size=1, max_size=3),
        st.text(st.sampled_from(BIDI + INVISIBLE + "abאבج"), max_size=20),
        st.builds(lambda letter, n: letter * n, st.characters(), st.integers(1, 3000)),
        st.builds(str.__add__, plain, st.characters(categories=["So", "Sk", "Lo"])),  # a word followed by a sign
    )
    joined = st.lists(pieces, min_size=1, max_size=6).flatmap(
        lambda parts: st.sampled_from([" ", "", "\n", "\t"]).map(lambda between: between.join(parts))
    )
    return st.one_of(joined, pieces)


def sentences() -> st.SearchStrategy[str]:
    return texts().map(lambda text: f"The bank {text[:120]} bank.")


ODD_VALUES = (
    "", "-1", "0", "1e309", "NaN", "null", "[]", "{}", "true", "L99 H99", "L0 H-1", "another ...", "/etc", "~root", "../..",
    "/srv/shelf/../mine",
)  # fmt: skip

REVISIONS = (
    "../../../../../../../dev/zero", "refs/../../../../etc/passwd", "refs/pr/1", "main", "..", "/dev/zero", "a//b",
)  # fmt: skip


def in_any_case(word: str) -> st.SearchStrategy[str]:
    return st.tuples(*(st.sampled_from([letter.lower(), letter.upper()]) for letter in word)).map("".join)


# URL parameters that have no widget on some pages.
LINKED = ("content", "second_content", "digest", "second_digest", "at_a", "at_b", "word", "head", "revision")


def queries(keys: list[str]) -> st.SearchStrategy[str]:
    odd = st.one_of(st.sampled_from(ODD_VALUES), st.sampled_from(MARKUP), texts().map(lambda text: text[:200]))
    digests = st.tuples(st.sampled_from(["53aa5117", "c0ffee00", ""]), odd).map(" ".join)  # digest and title
    values = st.one_of(odd, odd, digests, in_any_case("bank"))
    names = st.one_of(st.sampled_from(keys), st.text(st.characters(codec="utf-8"), max_size=8))
    pairs = st.lists(st.tuples(names, values), max_size=6).map(lambda held: urlencode(held, errors="surrogatepass"))
    broken = st.sampled_from(["%", "%zz", "&&&===", "a=%ff%fe", "a=%00", "=", "?" * 20, quote("ä", encoding="latin-1")])
    encoders = values.map(lambda value: urlencode({"model": "another ...", "other": value}, errors="surrogatepass"))
    asked = st.tuples(st.sampled_from(LINKED), values).map(lambda pair: urlencode([pair], errors="surrogatepass"))
    revisions = st.one_of(st.sampled_from(REVISIONS), values).map(
        lambda value: urlencode({"model": "another ...", "other": "a/b", "revision": value}, errors="surrogatepass")
    )
    scans = values.map(lambda value: urlencode({"source": "a finished scan", "scan": value}, errors="surrogatepass"))
    return st.one_of(pairs, pairs, pairs, encoders, revisions, asked, broken, *([scans] if "source" in keys else []))
