"""Test what happens when memory runs out, and which device is chosen."""

import weakref

import pytest
import torch

from selfattn import LoadError
from selfattn.analysis.gradients import context_gradients
from selfattn.encoders import memory
from selfattn.encoders.errors import OutOfMemory
from selfattn.encoders.loading import choose_device
from selfattn.lessons import tiny_model
from selfattn.scan.measure import measure
from selfattn.scan.tables import Row
from selfattn.senses import random_twin

TEXT = "The bank of the river was muddy."
ERRORS = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("CUDA error: out of memory"),
    RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    RuntimeError("MPS backend out of memory (MPS allocated: 5.00 GB, max allowed: 9.07 GB)"),
    RuntimeError("Invalid buffer size: 24.00 GiB"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"),
    MemoryError(),
]


def test_out_of_memory_errors_are_recognised():
    assert all(map(memory.is_out_of_memory, ERRORS))
    for error in (RuntimeError("CUDA error: device-side assert triggered"), ValueError("out of range")):
        assert not memory.is_out_of_memory(error)


@pytest.fixture
def room_for(encoder, monkeypatch):
    """Return `limit`: after limit(most), a forward pass with more than `most` texts runs out of memory."""

    def limit(most):
        forward, sizes = encoder.model.forward, []

        def bounded(*arguments, **options):
            sizes.append(len(options["input_ids"]))
            if sizes[-1] > most:
                raise ERRORS[1]
            return forward(*arguments, **options)

        monkeypatch.setattr(encoder.model, "forward", bounded)
        return sizes

    return limit


def test_too_large_batch_runs_in_halves(encoder, room_for):
    heads = encoder.all_heads[:5]
    expected = encoder.knock_out(TEXT, 2, heads=heads)
    sizes = room_for(3)
    torch.testing.assert_close(encoder.knock_out(TEXT, 2, heads=heads), expected, atol=1e-5, rtol=0)
    assert sizes == [5, 3, 2]


def test_batch_too_large_after_halving_raises_error(encoder, room_for):
    sizes = room_for(1)
    with pytest.raises(OutOfMemory, match=r"3 text\(s\) of 10 tokens need more memory than cpu has left\. Shorten"):
        encoder.knock_out(TEXT, 2, heads=encoder.all_heads[:5])
    assert sizes == [5, 3]  # halved once only
    sizes = room_for(0)
    with pytest.raises(OutOfMemory, match=r"1 text\(s\)"):
        encoder.encode(TEXT)
    assert len(sizes) == 1


def test_scan_continues_with_halved_batches(encoder, room_for):
    rows = [Row(i, "table.csv", i + 2, TEXT, "bank", None) for i in range(5)]
    expected, _ = measure(encoder, rows)
    sizes = room_for(3)
    table, _ = measure(encoder, rows)
    assert sizes == [5, 3, 2] and table.column("row").to_pylist() == list(range(5))
    assert table.column("top_word") == expected.column("top_word")


def test_context_gradients_raises_out_of_memory(encoder, monkeypatch):
    def fail(*arguments, **options):
        raise ERRORS[0]

    monkeypatch.setattr(torch.autograd, "grad", fail)
    with pytest.raises(OutOfMemory, match="than cpu has left"):
        context_gradients(encoder, [(TEXT, (2,))], torch.ones(1, 384))


def test_failed_pass_frees_tensors(monkeypatch):
    """The exception's traceback must not keep the failed pass's tensors in memory."""
    alive, seen = [], []

    def run(items):
        held = torch.ones(1)
        alive.append(weakref.ref(held))
        if len(items) > 1:
            raise OutOfMemory("too much")
        return items

    monkeypatch.setattr(memory, "give_memory_back", lambda: seen.append([ref() for ref in alive]))
    assert memory.in_halves(run, [1, 2]) == [1, 2]
    assert seen == [[None]]


@pytest.fixture
def two_gpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


def test_auto_chooses_fastest_device(two_gpus, monkeypatch):
    assert [choose_device(name) for name in ("auto", "cuda", "cuda:1", "cpu")] == ["cuda", "cuda", "cuda:1", "cpu"]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto") in ("cpu", "mps")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose_device("auto") == "mps"


@pytest.mark.parametrize("device", ["cuda:7", "cuda:2", "cuda:", "cuda:-1", "cuda:x", "cpu:1", "mps", "tpu", ""])
def test_unknown_device_is_refused(two_gpus, device):
    with pytest.raises(LoadError, match=r"Choose from cuda \(cuda:0 to cuda:1\), cpu") as caught:
        choose_device(device)
    assert repr(device) in str(caught.value)


def test_seeding_leaves_gpu_alone(encoder, monkeypatch):
    """torch.manual_seed would change the GPU's random numbers for other code."""
    for device in (torch.cuda, torch.mps):
        name = "manual_seed_all" if device is torch.cuda else "manual_seed"
        monkeypatch.setattr(device, name, lambda seed: pytest.fail("a device was seeded"))
    before = torch.get_rng_state()
    random_twin(encoder)
    next(tiny_model.train(tiny_model.Settings()))
    assert torch.equal(torch.get_rng_state(), before)
