"""Load the masked-language head, which predicts the token at a mask.

Source: Devlin et al. 2019, "BERT", section 3.1, task 1.
"""

from dataclasses import dataclass

import pandas as pd
from torch import Tensor, nn

from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.errors import TextError
from selfattn.encoders.heads_on_top import MASKED, NoHead, check_head, logits_of, read_head, take_encoder_out
from selfattn.encoders.placed_word import Tokens


@dataclass(frozen=True, eq=False)
class MaskedHead:
    """Computes the probability of each token of the vocabulary at a position."""

    encoder: Encoder
    mask_token: str
    mask_id: int
    _model: nn.Module  # without its encoder

    def log_probabilities(self, states: Tensor) -> Tensor:
        """Compute natural log-probabilities: (..., d_model) -> (..., vocabulary).

        Raises NotFinite.
        """
        logits = logits_of(self.encoder, self._model, MASKED, states.reshape(1, -1, states.shape[-1]))[0]
        return logits.float().cpu().log_softmax(-1).reshape(*states.shape[:-1], -1)

    def place(self, encoding: Tokens) -> int:
        """Return the position of the only mask token. Raises TextError."""
        places = [position for position, token in enumerate(encoding.ids) if token == self.mask_id]
        if len(places) != 1:
            raise TextError(f"Expected exactly one {self.mask_token} in the text, got {len(places)}. Mask one word.")
        return places[0]

    def predictions(self, encoding: Encoding, top: int = 10) -> pd.DataFrame:
        """Return the most probable tokens at the mask: rank (from 1), id, token, text, probability."""
        logs = self.log_probabilities(encoding.states[-1][self.place(encoding)])
        tokenizer, likeliest = self.encoder.tokenizer, logs.topk(min(top, len(logs)))
        ids = likeliest.indices.tolist()
        tokens, texts = tokenizer.convert_ids_to_tokens(ids), [tokenizer.decode([token]).strip() for token in ids]
        columns = {"rank": range(1, len(ids) + 1), "id": ids, "token": tokens, "text": texts}
        return pd.DataFrame({**columns, "probability": likeliest.values.exp().tolist()})


def load_masked_head(encoder: Encoder) -> MaskedHead:
    """Load a masked-language head. Raises NoHead if the checkpoint has no usable head."""
    check_head(encoder, MASKED)
    if encoder.tokenizer.mask_token_id is None:
        raise NoHead(f"{encoder.title}'s {MASKED} can't be used: the tokeniser has no mask token.")
    model = read_head(encoder, MASKED)
    output, body = model.get_output_embeddings(), take_encoder_out(model)
    if output is not None and output.weight is body.get_input_embeddings().weight:
        output.weight = encoder.model.get_input_embeddings().weight
    tokenizer = encoder.tokenizer
    return MaskedHead(encoder, tokenizer.mask_token, tokenizer.mask_token_id, model.to(encoder.device))


def replace_word(tokens: Tokens, index: int, replacement: str) -> str:
    """Return the text with `replacement` instead of word `index` (counted from 0). Raises IndexError."""
    words = tokens.words_of[0]
    if not 0 <= index < len(words):
        raise IndexError(f"Expected a word number from 0 to {len(words) - 1}, got {index}.")
    start, stop = words[index].span
    return tokens.text[:start] + replacement + tokens.text[stop:]
