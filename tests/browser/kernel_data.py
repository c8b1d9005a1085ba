"""Make random data for the component `kernel`, which shows one head's attention step by step."""

import json
from typing import Any

import torch

from selfattn import attend
from selfattn.kernel_inputs import Term
from selfattn.views import kernel_data as made
from selfattn.views.kernel_row import QueryRow
from selfattn.views.kernel_view import largest_weight

BANK = ("[CLS] we sat on the bank of the river . [SEP]", "[CLS] we went to the bank for a loan . [SEP]")
PLACES = {"vectors": 4, "products": 2, "handed": 3}


def kernel_data(
    texts=BANK, query="bank", *, d=32, hidden=(), terms=(), clicks=True, below=("Recomputed.",), seed=2
) -> dict[str, Any]:
    """Make data for the component `kernel`.

    hidden: words that the query can't attend to. terms: names of terms added to the scores.
    """
    torch.manual_seed(seed)
    sentences = [text.split(" ") for text in texts]
    vectors = {word: torch.randn(3, d) for word in dict.fromkeys(" ".join(texts).split(" "))}
    rows = []
    for name, words in zip("AB" if len(texts) > 1 else [""], sentences):
        at, (queries, keys, values) = words.index(query), torch.stack([vectors[word] for word in words], 1)
        mask = torch.tensor([[word not in hidden for word in words]]) if hidden else None
        added = [Term(term, torch.randn(1, len(words))) for term in terms]
        rows.append(
            QueryRow(
                trace=attend(queries[[at]], keys, values, mask, terms=added), tokens=tuple(words), query=at, first=at,
                name=name, special=tuple(word[0] == "[" for word in words), word=(at,),
            )
        )  # fmt: skip
    findings = [largest_weight(row) for row in rows]
    data = made.kernel_data(
        rows, key="a key", about="One head, step by step.", findings=findings, below=below, clicks=clicks, places=2
    )
    return json.loads(json.dumps(data))


LONG = " ".join(["[CLS] bank", *(f"token{i}" for i in range(61)), "[SEP]"])
VARIANTS = {
    "bank": kernel_data(),
    "one": kernel_data(BANK[:1]),
    "hidden": kernel_data(hidden=("river", "loan")),
    "terms": kernel_data(terms=("content to position", "position to content"), hidden=("river",)),
    "64 x 128": kernel_data((LONG, LONG), d=128),
    "75 tokens": kernel_data((LONG + " more" * 11, BANK[1])),
    "long words": kernel_data(
        ("[CLS] electroencephalographically bank donaudampfschifffahrtsgesellschaft [SEP]", BANK[1])
    ),
    "2 dimensions": kernel_data(("your bank begins",), d=2, clicks=False, below=()),
    "hebrew": kernel_data(("[CLS] ישבנו ליד bank הנהר . [SEP]", BANK[1])),
}
