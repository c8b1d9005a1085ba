"""Which kinds of model may be text encoders, and what to say of the others: read from a config before anything is built.

Being on the list opens nothing: whether a model is an encoder that can be recomputed is measured when it is loaded.
"""

import importlib

from transformers import CONFIG_MAPPING, MODEL_MAPPING
from transformers.models.auto import modeling_auto as mappings

from selfattn.encoders.errors import LoadError

# From transformers' mappings for text encoding, masked words and bare models (5.23): those that read plain text and
# nothing else, and can give a map of each token to each. Families that fetch code of their own (MRA, YOSO) aren't here.
TEXT_ENCODERS = frozenset((
    "albert", "bert", "bert-generation", "big_bird", "camembert", "convbert", "data2vec-text", "deberta",
    "deberta-v2", "distilbert", "electra", "embedding_gemma2_text", "ernie", "esm", "esmc", "eurobert", "flaubert",
    "funnel", "gemma", "gemma3_text", "gte", "jina_embeddings_v3", "layoutlm", "lilt", "longformer",
    "luke", "megatron-bert", "mobilebert", "modernbert", "mpnet", "mt5", "neomme", "nomic_bert", "nystromformer",
    "openai_privacy_filter", "rembert", "roberta", "roberta-prelayernorm", "roc_bert", "roformer", "splinter",
    "squeezebert", "t5", "t5gemma", "tipsv2_text_model", "ultrabert", "umt5", "xlm", "xlm-roberta", "xlm-roberta-xl", "xlnet",
    "xmod",
))  # fmt: skip

# What the others are, by the first of transformers' mappings that names them.
KINDS = {
    "reads images or sound beside text ({})": (
        "IMAGE_TEXT_TO_TEXT", "MULTIMODAL_LM", "ZERO_SHOT_IMAGE_CLASSIFICATION", "VISUAL_QUESTION_ANSWERING",
        "RETRIEVAL"
    ),
    "reads video ({})": ("VIDEO_CLASSIFICATION",),
    "reads images ({})": ("IMAGE", "IMAGE_CLASSIFICATION", "MASKED_IMAGE_MODELING", "OBJECT_DETECTION", "BACKBONE"),
    "reads sound ({})": ("AUDIO_CLASSIFICATION", "CTC", "SPEECH_SEQ_2_SEQ", "TEXT_TO_WAVEFORM", "TEXT_TO_SPECTROGRAM"),
    "reads series of numbers ({})": ("TIME_SERIES_PREDICTION", "TIME_SERIES_CLASSIFICATION", "TIME_SERIES_REGRESSION"),
    "is an encoder-decoder ({}) whose encoder half can't be loaded by itself; of this kind, T5, mT5, umT5 and T5Gemma can": (
        "SEQ_TO_SEQ_CAUSAL_LM",
    ),
    "is a decoder ({}): its tokens see only what stands before them": ("CAUSAL_LM",),
}  # fmt: skip

# What can be said better than by a mapping: what it is, and the remedy.
SPECIAL = {
    "bros": "needs the place of each word on a page beside the text",
    "canine": "reads characters, and pools them before most of its layers",
    "dpr": "wraps a BERT; take that one out: DPRContextEncoder.from_pretrained(folder).ctx_encoder.bert_model"
    ".save_pretrained(new_folder), and the tokeniser beside it",
    "fnet": "mixes its tokens by a Fourier transform and has no attention",
    "ibert": "computes in whole numbers, by modules of its own whose rows of weights don't sum to 1. Take the RoBERTa it was "
    "made from",
    "markuplm": "reads web pages: it needs each word's place in the markup beside the text",
    "mra": "approximates its attention and has no map of each token to each",
    "perceiver": "reads bytes into a fixed number of latent vectors, so its tokens don't attend to each other",
    "reformer": "sorts its tokens into buckets by hashing, so there is no map of each token to each",
    "tapas": "reads tables: it needs the row and column of each token beside the text",
    "yoso": "samples its attention and has no map of each token to each",
}

WORKING = "selfattn opens text encoders such as BERT, RoBERTa, XLM-R, ModernBERT, MPNet, DeBERTa or T5's encoder half."


def check_model_type(name: str, config: dict) -> None:
    """Refuse a config whose model type can't be a text encoder, saying what it is. Raises LoadError."""
    family = config.get("model_type")
    if not isinstance(family, str) or not family:
        raise LoadError(
            "config", f'{name}/config.json names no model_type. Add it ("model_type": "bert", say) or save it again.'
        )
    if family not in CONFIG_MAPPING:
        own_code = "auto_map" in config
        raise LoadError(
            "code" if own_code else "config",
            f"{name} is of the kind {family[:80]!r}, which the installed transformers doesn't know. "
            + ("Its own Python code (auto_map) is not an answer: selfattn never runs code that comes with a model. "
               if own_code else "")
            + f"Update transformers, or take another encoder: {WORKING}",
        )  # fmt: skip
    if family not in TEXT_ENCODERS:
        raise LoadError("encoder", f"{name} {_kind(family, config)}. {WORKING}")


def _kind(family: str, config: dict) -> str:
    if family in SPECIAL:
        return f"({family}) {SPECIAL[family]}"
    for kind, names in KINDS.items():
        if any(family in getattr(mappings, f"MODEL_FOR_{name}_MAPPING_NAMES", ()) for name in names):
            return kind.format(family)
    if any(isinstance(value, dict) and "model_type" in value for value in config.values()):
        return f"({family}) is put together from several models. If a text encoder is among them, save it by itself"
    return f"({family}) is no text encoder"


def ignores_interface(config) -> bool:
    """Whether the family's modules never ask the attention interface (then only `eager` reports weights)."""
    try:
        classes = MODEL_MAPPING[type(config)]
    except KeyError:
        return True
    first = classes[0] if isinstance(classes, tuple) else classes
    return not hasattr(importlib.import_module(first.__module__), "eager_attention_forward")
