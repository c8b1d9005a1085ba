"""List the model types that may be text encoders, and refuse others."""

import importlib

from transformers import CONFIG_MAPPING, MODEL_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from selfattn.encoders.errors import LoadError

# Model types in transformers 5.23 that read plain text and have an attention weight for each pair of tokens.
# MRA and YOSO are left out: they download code.
TEXT_ENCODERS = frozenset((
    "albert", "bert", "bert-generation", "big_bird", "camembert", "convbert", "data2vec-text", "deberta",
    "deberta-v2", "distilbert", "electra", "embedding_gemma2_text", "ernie", "esm", "esmc", "eurobert", "flaubert",
    "funnel", "gemma", "gemma3_text", "gte", "jina_embeddings_v3", "layoutlm", "lilt", "longformer",
    "luke", "megatron-bert", "mobilebert", "modernbert", "mpnet", "mt5", "neomme", "nomic_bert", "nystromformer",
    "openai_privacy_filter", "rembert", "roberta", "roberta-prelayernorm", "roc_bert", "roformer", "splinter",
    "squeezebert", "t5", "t5gemma", "tipsv2_text_model", "ultrabert", "umt5", "xlm", "xlm-roberta", "xlm-roberta-xl", "xlnet",
    "xmod",
))  # fmt: skip

# Reasons to refuse types that aren't in TEXT_ENCODERS. In a message, the model's name comes before the reason.
KINDS = {
    "dpr": "wraps a BERT. Save the BERT alone: DPRContextEncoder.from_pretrained(folder).ctx_encoder.bert_model"
    ".save_pretrained(new_folder). Save the tokeniser in new_folder too",
    "ibert": "computes attention with integers, so its attention weights don't sum to 1. Choose the original RoBERTa",
    **dict.fromkeys(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, "is a decoder: its tokens don't attend to later tokens"),
    **dict.fromkeys(
        MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
        "is an encoder-decoder. selfattn can load only the encoder half of T5, mT5, umT5 and T5Gemma",
    ),
}

WORKING = "selfattn opens text encoders such as BERT, RoBERTa, XLM-R, ModernBERT, MPNet, DeBERTa or T5's encoder half."


def check_model_type(name: str, config: dict) -> None:
    """Raise LoadError for a type that can't be a text encoder."""
    family = config.get("model_type")
    if not isinstance(family, str) or not family:
        raise LoadError(
            f'{name}/config.json has no model_type. Add one, such as "model_type": "bert", or save the model again.'
        )
    if family not in CONFIG_MAPPING:
        own_code = "auto_map" in config
        raise LoadError(
            f"{name} has the model_type {family[:80]!r}, which the installed transformers doesn't know. "
            + ("selfattn never runs the Python code that comes with a model (auto_map). " if own_code else "")
            + f"Update transformers, or choose another encoder. {WORKING}"
        )  # fmt: skip
    if family not in TEXT_ENCODERS:
        kind = KINDS.get(family, "is not a text encoder with an attention weight for each pair of tokens")
        raise LoadError(f"{name} ({family}) {kind}. {WORKING}")


def ignores_interface(config) -> bool:
    """Return True if the model class of `config` doesn't use transformers' attention interface."""
    classes = MODEL_MAPPING.get(type(config), None)
    if classes is None:
        return True
    first = classes[0] if isinstance(classes, tuple) else classes
    return not hasattr(importlib.import_module(first.__module__), "eager_attention_forward")
