"""Compare each head's computed query, key and value with those recorded from the model."""

import pytest
import torch

from selfattn import load_encoder
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.encoders.projections import ProjectionsUnknown, project, rotate
from tests.encoders.test_families import RECOMPUTED

TEXT = "The riverbank was muddy, wasn't it?"
KNOWN = [name for name in RECOMPUTED if name not in ("DeBERTa", "RoFormer")]


@pytest.mark.parametrize("name", KNOWN)
def test_projections_equal_those_recorded(encoder_of, name):
    encoder = encoder_of(name)
    encoding = encoder.encode(TEXT)
    outputs = []
    hooks = [
        module.register_forward_hook(lambda module, given, result: outputs.append(result[0]))
        for module in set(_output_matrices(encoder, encoding))
    ]
    encoder.encode(TEXT)
    for hook in hooks:
        hook.remove()
    for layer, (recording, expected) in enumerate(zip(encoding.recordings, outputs, strict=True)):
        projected = [project(encoder, encoding, layer, head) for head in range(encoder.n_heads)]
        for part in ("query", "key", "value"):
            recorded = getattr(recording, part)[0]
            for ours, theirs in zip(projected, recorded, strict=True):
                atol = 2e-6 * float(theirs.abs().max())
                torch.testing.assert_close(getattr(ours, part), theirs, atol=atol, rtol=0)
        total = sum(p.output(encoding.trace(layer, head).context) for head, p in enumerate(projected))
        bias = projected[0].output_bias
        total = total if bias is None else total + bias
        torch.testing.assert_close(total, expected, atol=1e-5 * float(expected.abs().max()), rtol=0)


def _output_matrices(encoder, encoding):
    names = {id(module): name for name, module in encoder.model.named_modules()}
    for recording in encoding.recordings:
        path = names[id(recording.module)]
        for candidate in ("dense", "out_lin", "o_proj", "o", "Wo", "../output.dense"):
            full = f"{path}.{candidate}" if "../" not in candidate else f"{path.rsplit('.', 1)[0]}.{candidate[3:]}"
            if full in names.values():
                yield encoder.model.get_submodule(full)
                break


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("BERT", ""),
        ("MobileBERT", "reduced to 16 numbers"),
        ("ModernBERT", "LayerNorm"),
        ("T5 (encoder half)", "RMSNorm"),
    ],
)
def test_steps_before_projection_are_noted(encoder_of, name, words):
    encoder = encoder_of(name)
    projected = project(encoder, encoder.encode(TEXT), 1, 0)
    assert words in projected.read_note
    assert (projected.read is projected.layer_input) == (projected.read_note == "")


def test_rotate_by_quarter_turn():
    quarter_turn = rotate(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 1.0]]))
    assert quarter_turn.tolist() == [[0.0, 1.0]]


def test_unknown_attention_module_has_no_projections(encoder_of):
    encoder = encoder_of("DistilBERT")
    encoding = encoder.encode(TEXT)
    module = encoding.recordings[0].module
    module.strange, module.q_lin = module.q_lin, torch.nn.Identity()
    try:
        with pytest.raises(ProjectionsUnknown, match="query, key, value and output matrices of distilbert"):
            project(encoder, encoding, 0, 0)
    finally:
        module.q_lin = module.strange


def test_wrong_projections_are_refused(tmp_path):
    encoder = load_encoder(str(save_tiny(FAMILIES["BERT"], tmp_path)))
    encoding = encoder.encode(TEXT)
    encoder.model.encoder.layer[1].attention.self.key.bias += 0.1
    with pytest.raises(ProjectionsUnknown, match="don't reproduce the recorded key"):
        project(encoder, encoding, 1, 0)
