"""Attributions: what each word of a sentence contributes to one number, by three methods that may disagree.

The number is how far the word's final vector points from sentence B's to sentence A's: its projection on the difference
between the two. The methods are hiding (analysis/hiding.py), where it was measured, else attention rollout (Abnar and Zuidema
2020), which never sees the number; integrated gradients (Sundararajan et al. 2017), from a baseline with every other word
blanked out; and occlusion (Zeiler and Fergus 2014), each other word blanked out in turn. The word itself stays in all of them,
so that they are asked about the same words: blanked out in the baseline, it alone would take about half. Units differ, so
methods are compared by ranks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd
import torch
from torch import Tensor

from selfattn.analysis.attention_rollout import rollout
from selfattn.encoders.encoder import COPIED_TOKENS, Encoder, Progress, silent
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.placed_word import PlacedWord
from selfattn.words import Word, to_groups

STEPS = 50  # points between the baseline and the sentence


@dataclass(frozen=True, eq=False, kw_only=True)
class Attributions:
    """What each other word of a sentence contributes to the number, by each method."""

    words: tuple[Word, ...]  # all but the compared one
    # Method: (n_words,). Hiding: a share of the way between the sentences, NaN where it wasn't run; rollout: one of weight; the
    # others are in units of the number.
    values: dict[str, Tensor]
    rollout: Tensor  # (n_words,), whether or not it is among the values
    number: float  # with the sentence as it is
    baseline: float  # with every other word blanked out
    gap: float  # what integrated gradients leave unexplained: the sum over the other words minus (number - baseline)
    blank: str  # the token that stands for a word that is blanked out

    def frame(self) -> pd.DataFrame:
        """One row a word: place (its first token), word, and for each method its value and rank by size (1 = most)."""
        table = {"place": [word.start for word in self.words], "word": [word.label for word in self.words]}
        for method, values in self.values.items():
            table[method] = values.tolist()
            table[f"{method} rank"] = pd.Series(values.abs().numpy()).rank(ascending=False)
        return pd.DataFrame(table)


def direction(first: PlacedWord[Encoding], second: PlacedWord[Encoding]) -> Tensor:
    """The unit vector (d_model,) from the word's final vector in the second sentence to that in the first.

    Raises ValueError where the two vectors are the same, so that there is nothing to explain.
    """
    one, other = (encoding.vector(encoding.n_layers, positions) for encoding, positions in (first, second))
    apart = one - other
    length = apart.norm()
    if not length >= 1e-6:
        raise ValueError("The word's two final vectors are the same: there is no difference to explain.")
    return apart / length


def attribute(
    encoder: Encoder,
    encoding: Encoding,
    word: Word,
    towards: Tensor,
    progress: Progress = silent,
    hidden: Tensor | None = None,
) -> Attributions:
    """By all three methods: what each other word contributes to the word's final vector along `towards` (d_model,).

    encoding must come from this encoder. progress(done, total) counts sentences run through the encoder. hidden: (n_words,),
    what hiding each does (`HiddenPair.share`); it takes the place of rollout.
    """
    others = tuple(other for other in encoding.words if other != word)
    done, total = [0], STEPS + len(others) + 2

    def number(**inputs: Tensor) -> Tensor:
        (batch,) = inputs.values()
        done[0] += len(batch)
        progress(min(done[0], total), total)
        # Attention mask and segment ids; no copy is padded.
        rest = {name: each for name, each in encoder.inputs([encoding] * len(batch)).items() if name != "input_ids"}
        states = encoder.model(**rest, **inputs).last_hidden_state[:, list(word.positions)].mean(dim=1).float()
        encoder.check_finite(encoding, [states.detach()])
        return states @ towards.to(states.device)

    blank, blank_id = blank_token(encoder)
    ids = torch.tensor([encoding.ids], device=encoder.device)
    empty = _blanked(ids, [p for other in others for p in other.positions], blank_id)
    with torch.no_grad():
        whole, bare = float(number(input_ids=ids)), float(number(input_ids=empty))
    groups = [other.positions for other in others]
    n = len(encoding.ids)
    with encoder.pass_over(min(STEPS, max(1, COPIED_TOKENS // n)), n):  # the largest of those that follow
        gradients = to_groups(_integrated_gradients(encoder, ids, empty, number), groups)
        rolled = to_groups(rollout(encoding)[-1][list(word.positions)].mean(0), groups)
        values = {
            **({"rollout": rolled} if hidden is None else {"hiding": hidden}),
            "integrated gradients": gradients,
            "occlusion": _occlusion(ids, others, blank_id, number, whole),
        }
    gap = float(gradients.sum()) - (whole - bare)
    return Attributions(words=others, values=values, rollout=rolled, number=whole, baseline=bare, gap=gap, blank=blank)


def blank_token(encoder: Encoder) -> tuple[str, int]:
    """What stands for a word that is blanked out: the mask token, where there is none the padding or unknown token."""
    for role in ("mask", "pad", "unk"):
        token, token_id = getattr(encoder.tokenizer, f"{role}_token"), getattr(encoder.tokenizer, f"{role}_token_id")
        if token is not None and encoder.has_vector(token_id):
            return token, token_id
    raise ValueError(f"{encoder.title}'s tokeniser has no mask, padding or unknown token to blank a word out with.")


def agreement(values: dict[str, Tensor]) -> pd.DataFrame:
    """Spearman's rank correlation of the absolute values for each pair of methods: first, second, correlation.

    NaN where there are fewer than three words, or where one method gives all the same rank.
    """
    sizes = pd.DataFrame({method: each.abs().numpy() for method, each in values.items()})
    between = sizes.corr("spearman", min_periods=3)
    rows = [(first, second, between.loc[first, second]) for first, second in combinations(values, 2)]
    return pd.DataFrame(rows, columns=["first", "second", "correlation"])


def _integrated_gradients(encoder: Encoder, ids: Tensor, empty: Tensor, number: Callable[..., Tensor]) -> Tensor:
    """(n,) per token: the gradient along the straight way from the blanked embeddings to the real ones, summed up."""
    from captum.attr import IntegratedGradients  # not at the top: All heads would wait for it, and for its matplotlib

    # The embeddings themselves are the input: a hook on the shared model would change other visitors' passes.
    table = encoder.model.get_input_embeddings()
    real, baseline = table(ids).detach(), table(empty).detach()
    size, along = max(1, COPIED_TOKENS // ids.shape[1]), IntegratedGradients(lambda rows: number(inputs_embeds=rows))
    gradients = along.attribute(
        real, baselines=baseline, n_steps=STEPS, method="gausslegendre", internal_batch_size=size
    )
    return gradients[0].sum(dim=-1).float().cpu()


def _occlusion(ids: Tensor, words: Sequence[Word], blank_id: int, number: Callable[..., Tensor], whole: float):
    """(n_words,): how much of the number goes when each word is blanked out, several copies of the sentence a batch."""
    copies = [_blanked(ids, word.positions, blank_id) for word in words]
    size = max(1, COPIED_TOKENS // ids.shape[1])
    with torch.no_grad():
        left = [number(input_ids=torch.cat(copies[i : i + size])) for i in range(0, len(copies), size)]
    return whole - torch.cat(left).cpu() if left else torch.zeros(0)


def _blanked(ids: Tensor, positions: Sequence[int], blank_id: int) -> Tensor:
    copy = ids.clone()
    copy[:, list(positions)] = blank_id
    return copy
