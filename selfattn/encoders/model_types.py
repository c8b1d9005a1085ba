"""List the model types that may be text encoders, and refuse others by their config before a model is built.

For a type on the list, `parity.py` measures whether it can be recomputed.
"""

import importlib

from transformers import CONFIG_MAPPING, MODEL_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from selfattn.encoders.errors import LoadError

# From transformers' mappings for text encoding, masked words and bare models (5.23): types that read only plain text and
# have weights from each token to each. Families that fetch code (MRA, YOSO) are left out.
TEXT_ENCODERS = frozenset((
    "albert", "bert", "bert-generation", "big_bird", "camembert", "convbert", "data2vec-text", "deberta",
    "deberta-v2", "distilbert", "electra", "embedding_gemma2_text", "ernie", "esm", "esmc", "eurobert", "flaubert",
    "funnel", "gemma", "gemma3_text", "gte", "jina_embeddings_v3", "layoutlm", "lilt", "longformer",
    "luke", "megatron-bert", "mobilebert", "modernbert", "mpnet", "mt5", "neomme", "nomic_bert", "nystromformer",
    "openai_privacy_filter", "rembert", "roberta", "roberta-prelayernorm", "roc_bert", "roformer", "splinter",
    "squeezebert", "t5", "t5gemma", "tipsv2_text_model", "ultrabert", "umt5", "xlm", "xlm-roberta", "xlm-roberta-xl", "xlnet",
    "xmod",
))  # fmt: skip

# Why other types are refused, for types with a remedy or a common reason.
KINDS = {
    "dpr": "wraps a BERT; take that one out: DPRContextEncoder.from_pretrained(folder).ctx_encoder.bert_model"
    ".save_pretrained(new_folder), and the tokeniser beside it",
    "ibert": "computes in whole numbers, by modules of its own whose rows of weights don't sum to 1. Take the RoBERTa it was "
    "made from",
    **dict.fromkeys(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, "is a decoder: its tokens see only the tokens before them"),
    **dict.fromkeys(
        MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
        "is an encoder-decoder whose encoder half can't be loaded by itself; of this kind, T5, mT5, umT5 and T5Gemma can",
    ),
}

WORKING = "selfattn opens text encoders such as BERT, RoBERTa, XLM-R, ModernBERT, MPNet, DeBERTa or T5's encoder half."


def check_model_type(name: str, config: dict) -> None:
    """Raise LoadError for a model type that can't be a text encoder."""
    family = config.get("model_type")
    if not isinstance(family, str) or not family:
        raise LoadError(f'{name}/config.json names no model_type. Add it ("model_type": "bert", say) or save it again.')
    if family not in CONFIG_MAPPING:
        own_code = "auto_map" in config
        raise LoadError(
            f"{name} is of the kind {family[:80]!r}, which the installed transformers doesn't know. "
            + ("Its own Python code (auto_map) is not an answer: selfattn never runs code that comes with a model. "
               if own_code else "")
            + f"Update transformers, or take another encoder: {WORKING}"
        )  # fmt: skip
    if family not in TEXT_ENCODERS:
        kind = KINDS.get(family, "is no text encoder with a map of each token to each")
        raise LoadError(f"{name} ({family}) {kind}. {WORKING}")


def ignores_interface(config) -> bool:
    """Return True if the family's modules never use the attention interface, so that only `eager` reports weights."""
    classes = MODEL_MAPPING.get(type(config), None)
    if classes is None:
        return True
    first = classes[0] if isinstance(classes, tuple) else classes
    return not hasattr(importlib.import_module(first.__module__), "eager_attention_forward")
