"""Write the Python code that visitors find under "Copy as Python"."""

from pathlib import Path

from selfattn.dashboard.choice import Pair
from selfattn.dashboard.permissions import beyond_localhost
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.sources import BUNDLED_NAME
from selfattn.settings import Settings

LABELLED = "from selfattn.examples import labelled_sentences\nsenses = labelled_sentences()"
OWN_TABLE = 'import pandas as pd\nsenses = pd.read_csv("your_table.csv")  # your table, with the columns sentence, word and sense'


def lines(*parts: str) -> str:
    """Join pieces of code. Each import appears once, at the top."""
    every = "\n".join(parts).splitlines()
    imports = dict.fromkeys(line for line in every if line.startswith(("from ", "import ")))
    return "\n".join([*imports, *(line for line in every if line not in imports)])


def load(encoder: Encoder, name: str = "encoder") -> str:
    """Return code that loads the encoder into the variable `name`."""
    arguments = []
    if encoder.name != BUNDLED_NAME:
        arguments = [repr(encoder.name if encoder.revision else folder_path(encoder.name, Settings.read().model_dir))]
        arguments += [f"revision={encoder.revision!r}"] if encoder.revision else []
    arguments += [f"dtype={encoder.dtype!r}"] if encoder.dtype != "float32" else []
    return f"from selfattn import load_encoder, notebook\n{name} = load_encoder({', '.join(arguments)})"


def folder_path(name: str, base: Path | None = None) -> str:
    """Return the absolute path of the folder `name`. On a shared server, return `./` and the path's last part instead.

    base: the folder that contains `name`, if `name` is relative.
    """
    return f"./{Path(name).name}" if beyond_localhost() else str(Path(base or "", name).resolve())


def load_pair(encoder: Encoder, pair: Pair) -> str:
    """Return code that loads the encoder and sets the variables a, b, control, word and at."""
    texts = ", ".join(repr(side and side.sentence.text) for side in pair)
    at = pair.first.number, pair.second.number
    return f"{load(encoder)}\na, b, control = {texts}\nword, at = {pair.word!r}, {at}"
