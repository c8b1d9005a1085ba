"""A view as three lines of Python that draw the same figure in a notebook."""

from pathlib import Path

from selfattn.encoders.capture import Head
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.sources import BUNDLED_NAME
from selfattn.settings import Settings


def notebook_lines(
    encoder: Encoder, texts: tuple[str, str], word: str, at: tuple[int, int], head: Head, whole_path: bool = True
) -> str:
    """`notebook.two_sentences` of a word in two sentences. at: which of the word's places in each, from 1.

    whole_path: name a folder by its whole path, else as one of the reader's own. Either way it is no Hub id.
    """
    folder = Path(Settings.read().model_dir or "", encoder.name).resolve() if whole_path else f"./{encoder.title}"
    named = [] if encoder.name == BUNDLED_NAME else [repr(encoder.name if encoder.revision else str(folder))]
    named += [f"revision={encoder.revision!r}"] if named and encoder.revision else []
    named += [f"dtype={encoder.dtype!r}"] if encoder.dtype != "float32" else []
    places = f"at={at}, " if at != (1, 1) else ""
    return (
        "from selfattn import load_encoder\n"
        "from selfattn.notebook import two_sentences\n"
        f"two_sentences(load_encoder({', '.join(named)}), {texts[0]!r}, {texts[1]!r}, {word!r}, {places}"
        f"layer={head.layer}, head={head.head})"
    )
