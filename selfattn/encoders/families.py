"""Write tiny encoders with random parameters, one for each family.

The parameters are large, so that an error in a bias, a mask or a rotation is visible.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
import transformers
from tokenizers import ByteLevelBPETokenizer
from torch import nn

from selfattn.encoders.loading import quiet

SENTENCES = (
    "The bank of the river was muddy after the rain.",
    "The bank approved the loan in the morning, didn't it?",
    "She sat by the water and waited for the well-known banker.",
)
N_LAYERS = 3


@dataclass(frozen=True)
class Family:
    """A family of encoders, with the settings of a tiny encoder."""

    name: str
    model_type: str  # the name in transformers
    tokenizer: str  # "wordpiece", "bytes" or "unigram"
    settings: Mapping[str, object] = field(default_factory=dict)  # added to COMMON; None removes a setting
    spread: float = 0.3  # standard deviation of the random parameters


COMMON = {
    "num_hidden_layers": N_LAYERS,
    "num_attention_heads": 4,
    "hidden_size": 32,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
}
T5_SIZES = {"d_kv": 8, "d_ff": 48, "num_decoder_layers": 1, "decoder_start_token_id": 0}
RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False}
DEBERTA_V3 = RELATIVE | {"share_att_key": True, "position_buckets": 8, "norm_rel_ebd": "layer_norm"}
WINDOWS = {"local_attention": 8, "global_attn_every_n_layers": 3, "attention_bias": True}
FUNNEL_SIZES = {"block_sizes": [1] * N_LAYERS, "d_head": 8, "d_inner": 48, "num_hidden_layers": None}
FUNNEL_SIZES |= {"architectures": ["FunnelModel"]}

# T5 (no division by sqrt(d_head)) and MobileBERT (no LayerNorm) get random parameters with a smaller `spread` than the default.
FAMILIES = {
    family.name: family
    for family in (
        Family("BERT", "bert", "wordpiece"),
        Family("RoBERTa", "roberta", "bytes", {"pad_token_id": 1}),
        Family("XLM-R", "xlm-roberta", "unigram", {"pad_token_id": 1}),
        Family("CamemBERT", "camembert", "unigram", {"pad_token_id": 1}),
        Family("ELECTRA", "electra", "wordpiece", {"embedding_size": 16}),
        Family("ALBERT", "albert", "unigram", {"embedding_size": 16, "num_hidden_groups": 1}),
        Family("DistilBERT", "distilbert", "wordpiece", {"hidden_dim": 48}),
        Family("MobileBERT", "mobilebert", "wordpiece", {"embedding_size": 16, "intra_bottleneck_size": 16}, 0.18),
        Family("ModernBERT", "modernbert", "bytes", WINDOWS),
        Family("NomicBERT", "nomic_bert", "wordpiece"),
        Family("EuroBERT", "eurobert", "bytes", {"num_key_value_heads": 2}),
        Family("T5 (encoder half)", "t5", "unigram", T5_SIZES, spread=0.18),
        Family("mT5 (encoder half)", "mt5", "unigram", T5_SIZES, spread=0.18),
        Family("DeBERTa", "deberta", "bytes", RELATIVE),
        Family("DeBERTa-v2", "deberta-v2", "unigram", RELATIVE),
        Family("DeBERTa-v3", "deberta-v2", "unigram", DEBERTA_V3),
        Family("MPNet", "mpnet", "wordpiece", {"pad_token_id": 1}),
        Family("RoFormer", "roformer", "wordpiece", {"embedding_size": 16}),
        Family("RemBERT", "rembert", "unigram", {"input_embedding_size": 16}),
        Family("MegatronBERT", "megatron-bert", "wordpiece"),
        Family("XLM", "xlm", "wordpiece", {"emb_dim": 32, "n_heads": 4, "n_layers": N_LAYERS}),
        Family("LUKE", "luke", "bytes", {"entity_vocab_size": 10, "entity_emb_size": 16, "pad_token_id": 1}),
        Family("LiLT", "lilt", "bytes", {"hidden_size": 96, "channel_shrink_ratio": 4, "pad_token_id": 1}),
        Family("XLNet", "xlnet", "unigram", {"d_inner": 48, "d_head": 8, "max_position_embeddings": None}),
        Family("Longformer", "longformer", "bytes", {"attention_window": [8] * N_LAYERS, "pad_token_id": 1}),
        Family("Funnel", "funnel", "wordpiece", FUNNEL_SIZES),
    )
}


def save_tiny(
    family: Family,
    folder: Path,
    seed: int = 0,
    masked_head: bool = False,
    classes: Sequence[str] = (),
    tags: Sequence[str] = (),
) -> Path:
    """Save a tiny model and its tokeniser.

    masked_head: add a head for masked language modelling
    classes: add a classification head for texts, with these classes
    tags: add a classification head for tokens, with these tags
    """
    tokenizer = TOKENIZERS[family.tokenizer]()
    ids = {f"{role}_token_id": getattr(tokenizer, f"{role}_token_id") for role in ("pad", "bos", "eos", "cls", "sep")}
    settings = {**COMMON, "vocab_size": len(tokenizer), **ids, **family.settings}
    known = {key: value for key, value in settings.items() if value is not None}
    loader = transformers.AutoModelForMaskedLM if masked_head else transformers.AutoModel
    with quiet():
        config = transformers.AutoConfig.for_model(family.model_type, **known)
        if classes:
            loader, config.id2label = transformers.AutoModelForSequenceClassification, dict(enumerate(classes))
        if tags:
            loader, config.id2label = transformers.AutoModelForTokenClassification, dict(enumerate(tags))
        if config.is_encoder_decoder:  # T5: save only the encoder half
            loader, config.is_encoder_decoder = transformers.AutoModelForTextEncoding, False
        model = loader.from_config(config)
        fill(model, seed, family.spread)
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Path(folder)


def fill(model: nn.Module, seed: int, spread: float) -> None:
    """Fill matrices with random numbers, and add random numbers to all other parameters."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator) * spread
            if parameter.dim() > 1:
                parameter.copy_(noise)
            else:
                parameter.add_(noise)
        for module in model.modules():
            if isinstance(module, nn.Embedding) and module.padding_idx is not None:
                module.weight[module.padding_idx] = 0  # as in training


def wordpiece_tokenizer():
    """Return a WordPiece tokeniser that splits unknown words."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = "the bank of river was muddy after rain approved loan in morning she sat by water and for well known it"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *".,'?!-", *letters, *words.split()]
    pieces += [f"##{piece}" for piece in (*letters, "bank", "ing", "er", "ed")]
    return transformers.BertTokenizer(vocab={piece: i for i, piece in enumerate(pieces)}, model_max_length=64)


def byte_tokenizer():
    """Return a byte-level BPE tokeniser."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = ByteLevelBPETokenizer()
    trainer.train_from_iterator(SENTENCES * 3, 340, min_frequency=2, special_tokens=special, show_progress=False)
    trained = json.loads(trainer.to_str())["model"]
    merges = [tuple(pair) for pair in trained["merges"]]
    return transformers.RobertaTokenizer(vocab=trained["vocab"], merges=merges, model_max_length=64)


def unigram_tokenizer():
    """Return a unigram tokeniser, whose words begin with "▁"."""
    letters = "abcdefghijklmnopqrstuvwxyzTSIW.,'?!-"
    words = "▁The ▁the ▁bank ▁of ▁river ▁was ▁mud dy ▁after ▁rain ▁loan ▁in ▁morning ▁She ▁sat ▁by ▁water bank er ing"
    scored = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0)]
    scored += [(piece, -4.0) for piece in words.split()] + [(letter, -8.0) for letter in letters]
    scored += [("<mask>", 0.0)]
    return transformers.XLMRobertaTokenizer(vocab=scored, model_max_length=64)


TOKENIZERS = {"wordpiece": wordpiece_tokenizer, "bytes": byte_tokenizer, "unigram": unigram_tokenizer}
