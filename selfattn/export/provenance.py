"""Describe where a figure or table comes from."""

import json
import platform
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import version

import selfattn
from selfattn import numbers
from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding

PACKAGES = ("torch", "transformers", "altair", "vl-convert-python")


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The encoder, sentences, head and versions behind a figure."""

    title: str
    link: str = ""
    model: str = ""
    revision: str | None = None
    digest: str = ""  # the weights' sha256
    content: str = ""  # `Encoder.content`
    device: str = "cpu"
    dtype: str = ""
    sentences: dict[str, str] = field(default_factory=dict)  # by name: "A", "B"
    tokens: dict[str, list[str]] = field(default_factory=dict)
    layer: int | None = None  # None: all layers
    head: int | None = None  # None: all heads
    error: float | None = None  # largest difference to the model's own weights (None: not measured)
    recomputed: bool = True  # False: the model itself returned the weights
    note: str = ""  # how the file's picture differs from the figure on the page
    versions: dict[str, str] = field(default_factory=lambda: dict(versions()))

    @classmethod
    def of(
        cls,
        encoder: Encoder,
        title: str,
        encodings: Mapping[str, Encoding],
        *,
        layer: int | None = None,
        head: int | None = None,
        error: float | None = None,
        link: str = "",
    ) -> "Provenance":
        """Return the provenance of a figure. encodings: keyed by the sentence's name ("A", "B")."""
        facts = {name: getattr(encoder, name) for name in ("revision", "digest", "content", "device", "dtype")}
        return cls(
            title=title, link=link, layer=layer, head=head, error=error, model=encoder.title, recomputed=encoder.recomputable,
            sentences={name: one.text for name, one in encodings.items()},
            tokens={name: list(one.tokens) for name, one in encodings.items()},
            **facts,
        )  # fmt: skip

    def of_figure(self, name: str, *, one_head: bool, sentences: Collection[str] | None = None) -> "Provenance":
        """Return a copy whose title is the figure's `name`.

        one_head: if True, keep `layer`, `head` and `error`; if False, set them to None
        sentences: the names of the sentences to keep (None: all)
        """
        head = str(Head(self.layer, self.head)) if one_head and None not in (self.layer, self.head) else ""
        title = name[:1].upper() + name[1:]
        shown = {"title": title if not head or head in title else f"{title}, {head}"}
        if not one_head:
            shown |= {"layer": None, "head": None, "error": None}
        if sentences is not None:
            for part in ("sentences", "tokens"):
                shown[part] = {at: what for at, what in getattr(self, part).items() if at in sentences}
        return replace(self, **shown)

    def line(self) -> str:
        """State encoder, layer, head, precision, device and the attention weights' error in one line."""
        if not self.model:
            return "computed by selfattn, without a pretrained encoder"
        revision = f" @ {self.revision[:7]}" if self.revision else ""
        place = [f"{what} {i}" for what, i in (("layer", self.layer), ("head", self.head)) if i is not None]
        origin = ", ".join([self.model + revision, *place, f"{self.dtype} on {self.device}"])
        return f"{origin}; {check}" if (check := self.check()) else origin

    def check(self) -> str:
        """Say how far the recomputed weights differ from the model's own weights."""
        if not self.recomputed:
            return "the model's own attention weights, not recomputed"
        return (
            ""
            if self.error is None
            else f"recomputed weights equal the model's own to within {numbers.error(self.error)}"
        )

    def json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, indent=1)


@cache
def versions() -> tuple[tuple[str, str], ...]:
    packages = ((package, version(package)) for package in PACKAGES)
    return ("python", platform.python_version()), ("selfattn", selfattn.__version__), *packages
