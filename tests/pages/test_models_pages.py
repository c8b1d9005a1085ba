"""Test the pages "Models and proof", "Two encoders" and "Predictions"."""

import gc
import re
from dataclasses import replace

import pandas as pd
import pytest
import torch
from streamlit.testing.v1 import AppTest
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from selfattn import Encoder, load_encoder
from selfattn.analysis import sentences
from selfattn.analysis.cosine_parts import cosine_parts
from selfattn.analysis.explaining import explain
from selfattn.analysis.targets import class_score
from selfattn.dashboard import figures
from selfattn.encoders.classification import load_class_head, load_tag_head
from selfattn.encoders.errors import OutOfMemory
from selfattn.encoders.families import FAMILIES, save_tiny
from selfattn.numbers import change, decimal, error, span, weight
from selfattn.senses import compare_checkpoints
from selfattn.views.rounding import NOISE, OF_LOG_PROBABILITY
from tests.encoders.test_loading import change_config
from tests.encoders.test_pooling import embedder
from tests.pages.conftest import at_address, load_asked, open_link
from tests.pages.pictures import live, records_of

pytestmark = pytest.mark.slow


def page_text(at: AppTest) -> str:
    kinds = (at.text, at.markdown, at.info, at.warning, at.error, at.caption)
    return "\n".join(element.value.replace("\\", "") for kind in kinds for element in kind)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Save two tiny BERT models and a tiny RoBERTa."""
    made = {"before": ("BERT", 0), "after": ("BERT", 1), "other": ("RoBERTa", 0)}
    root = tmp_path_factory.mktemp("folders")
    return {name: str(save_tiny(FAMILIES[family], root / name, seed, True)) for name, (family, seed) in made.items()}


def test_proof_states_largest_errors_of_recomputed_weights(folders):
    encoder = load_encoder(folders["other"], device="cpu")
    at = open_link("models-and-proof", model="another ...", other=folders["other"])
    facts = dict(at.dataframe[0].value.to_numpy())
    assert facts["layers × heads"] == f"{encoder.n_layers} × {encoder.n_heads}"
    assert facts["d_model, d_head"] == f"{encoder.d_model}, {encoder.d_head}"
    assert (facts["name"], facts["family"]) == (encoder.title, encoder.family)
    assert facts["sha256 of the weights"] == encoder.digest
    assert facts["sha256 of weights, configuration and tokeniser"] == encoder.content
    at.text_input(key="proof_text").set_value("Another text.").run()
    at.button(key="run_proof").click().run()
    weights = encoder.encode("Another text.")
    own = torch.stack([weights.own_weights(layer) for layer in range(encoder.n_layers)])
    mine = torch.stack([weights.weights(layer) for layer in range(encoder.n_layers)])
    reference = encoder.reference_weights("Another text.")
    by_layer = at.dataframe[1].value
    for column, theirs in (
        ("weights, compared with the model's on the same queries and keys", own),
        ("weights, compared with a separate run of eager attention", reference),
    ):
        largest = (mine - theirs).abs().amax((1, 2, 3)).tolist()
        assert by_layer[column].tolist() == [error(value) for value in largest]
        assert f"{error(max(largest))} ({column})" in page_text(at)
    at.text_input(key="proof_text").set_value("One more text.").run()
    assert "Largest differences between" not in page_text(at)  # that proof was computed for the previous text
    at.text_input(key="proof_text").set_value("  ").run()
    at.button(key="run_proof").click().run()
    assert "empty" in page_text(at)


def spec(at, number):
    return str(at.get("vega_lite_chart")[number].proto.spec)


def test_page_asks_for_second_encoder():
    at = open_link("two-encoders", second="another ...")
    assert "Choose a second encoder" in page_text(at)


def compared(folders, second: str, **query: str) -> AppTest:
    own = {"model": "another ...", "other": folders["before"]}
    return open_link("two-encoders", **own, second="another ...", second_other=folders[second], **query)


def test_checkpoints_are_compared_head_by_head(folders):
    at = compared(folders, "after", a="The riverbank was muddy.", head="L1 H2")
    sentences = "The bank of the river.\n\nShe sat by the water.\n" + "bank " * 70
    at.text_area(key="sentences").set_value(sentences).run()
    encoders = [load_encoder(folders[name], device="cpu") for name in ("before", "after")]
    heads = compare_checkpoints(*encoders, sentences.split("\n")[::2]).heads.set_index(["layer", "head"])
    assert "Over 2 sentences" in page_text(at)
    assert f"(distance {weight(heads['distance'].max())})" in page_text(at)
    low, high = heads.loc[(1, 2), ["low", "high"]]
    own = span(low, high, weight)
    assert re.search(f"{own} for the chosen head|95 % interval: {own}", page_text(at))
    assert f"{heads['nearer'].sum()} of 12" in page_text(at) and "another head's counterpart" in page_text(at)
    assert "1 of 3 sentences are left out. The first is sentence 3: This text has 72 tokens" in page_text(at)
    assert ("before, L1 H2" in spec(at, 2)) and ("after, L1 H2" in spec(at, 3))


def test_page_compares_what_word_pairs_add_to_cosine(tmp_path):
    folders = [
        str(embedder(save_tiny(FAMILIES["BERT"], tmp_path / name, seed))) for seed, name in enumerate(("old", "new"))
    ]
    link = {"model": "another ...", "other": folders[0], "second": "another ...", "second_other": folders[1]}
    at = at_address("two-encoders", a="She sat.", b="It was muddy.", **link)
    at.session_state["similarity"] = True
    parts = [cosine_parts(load_encoder(folder, device="cpu"), "She sat.", "It was muddy.") for folder in folders]
    change = (parts[0].table - parts[1].table)[:-1, :-1]
    largest = float(change.flatten()[change.abs().argmax()])
    much = f"{decimal(abs(largest), 3)} {'more' if largest > 0 else 'less'}"
    assert f"add {much} to the cosine than in new." in page_text(load_asked(at.run()))


RIVER = "The bank of the river was muddy."


def answers(at):
    return records_of(at.get("vega_lite_chart")[0], "bars")


def effects(at):
    return pd.Series([float(each.split(" ")[0].replace("−", "-")) for each in live(at, "heads")["said"]])


def test_default_question_matches_task_of_checkpoint(folders, tmp_path):
    folder = str(embedder(save_tiny(FAMILIES["BERT"], tmp_path / "tiny", classes=("BAD", "GOOD"))))
    at = open_link("predictions", model="another ...", other=folder, a=RIVER, head="L0 H0")
    classes = answers(at)["token"].tolist()
    assert "the margin of" in page_text(at) and set(classes) == {"BAD", "GOOD"}
    other = classes[1]
    at.selectbox(key="class").set_value(other).run()
    assert f"the margin of {other} changes by" in page_text(at)
    at.button_group(key="asked").set_value("similarity").run()
    assert "in A, and the cosine changes by" in page_text(at) and len(live(at, "similar")["sides"]) == 2
    at.button_group(key="asked").set_value("gap").run()
    assert "tiny has no masked-language head" in page_text(at) and not at.get("vega_lite_chart")


def test_reranker_compares_two_documents(tmp_path):
    folder = str(save_tiny(FAMILIES["BERT"], tmp_path / "tiny", classes=("LABEL_0",)))
    link = {"model": "another ...", "other": folder, "a": "Was it muddy?", "head": "L0 H0"}
    at = open_link("predictions", b=RIVER, document="She sat by the water.", **link)
    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    scores = []
    for document in (RIVER, "She sat by the water."):
        with torch.no_grad():
            scores.append(float(model(**tokenizer("Was it muddy?", document, return_tensors="pt")).logits))
    assert f"Document 1: score {decimal(scores[0])}; Document 2: score {decimal(scores[1])}" in page_text(at)
    assert f"The score is {decimal(abs(scores[0] - scores[1]))} higher for document" in live(at, "shaded")["finding"]
    assert "Remove L" in page_text(at) and "in document 2, and the score changes by" in page_text(at)
    at.text_area(key="document").set_value("").run()
    assert f"score {decimal(scores[0])}" in page_text(at) and "in document" not in page_text(at)


def test_chosen_task_replaces_default_task(folders, tmp_path):
    folder = str(save_tiny(FAMILIES["BERT"], tmp_path / "tiny", classes=("LABEL_0",)))
    at = open_link("predictions", model="another ...", other=folders["before"], a=RIVER, head="L0 H0")
    assert at.button_group(key="asked").value == "gap"
    at = load_asked(at.text_input(key="other").set_value(folder).run())
    assert at.button_group(key="asked").value == "pair" and "score" in page_text(at)
    at.button_group(key="asked").set_value("gap").run()
    at = load_asked(at.text_input(key="other").set_value(folders["before"]).run())
    at = load_asked(at.text_input(key="other").set_value(folder).run())
    assert at.button_group(key="asked").value == "pair"
    at.button_group(key="asked").set_value("class").run()
    at = load_asked(at.text_input(key="other").set_value(folders["before"]).run())
    assert at.button_group(key="asked").value == "class"


def test_most_certain_tag_comes_first(tmp_path):
    folder = str(save_tiny(FAMILIES["BERT"], tmp_path / "tiny", tags=("B-LOC", "I-LOC", "O")))
    at = open_link("predictions", model="another ...", other=folder, a=RIVER, head="L0 H0")
    encoder = load_encoder(folder, device="cpu")
    tags = load_tag_head(encoder).tags(encoder.encode(RIVER))
    n = int((tags["tag"] != "O").sum())
    assert f"{n} of {len(tags)} words ha" in live(at, "tags")["finding"]
    assert n
    surest = tags[tags["tag"] != "O"].sort_values("probability").iloc[-1]
    assert f"the margin of {surest['tag']} changes by" in page_text(at)
    assert [word["text"] for word in live(at, "tags")["rows"][0]["words"] if word["kind"] == "chosen"] == [
        surest["word"]
    ]
    at = open_link("predictions", model="another ...", other=folder, a=RIVER, head="L0 H0", tagged="the")
    assert f"the margin of {tags['tag'][3]} changes by" in page_text(at) and at.query_params["tagged"] == "the"
    at.selectbox(key=f"tag of the in {RIVER}").set_value("O" if tags["tag"][3] != "O" else "I-LOC").run()
    other = at.query_params["tag"].removeprefix("the: ")
    assert f"the margin of {other} changes by" in page_text(at)
    link = {"model": "another ...", "other": folder, "a": RIVER, "head": "L0 H0", "tagged": "the"}
    assert f"the margin of {other} changes by" in page_text(open_link("predictions", tag=f"the: {other}", **link))
    at = open_link("predictions", tag=f"bank: {other}", **link)
    assert f"the margin of {tags['tag'][3]} changes by" in page_text(at)
    at.selectbox(key=f"tag of the in {RIVER}").set_value(other).run()
    text = f"Then {RIVER}"
    at.text_area(key="a").set_value(text).run()  # for a new sentence, the page asks about the predicted tag
    tags = load_tag_head(encoder).tags(encoder.encode(text))
    assert f"the margin of {tags['tag'][4]} changes by" in page_text(at) and "tag" not in at.query_params


def test_regression_score_is_shown(tmp_path):
    folder = save_tiny(FAMILIES["BERT"], tmp_path / "tiny", classes=("RISK",))
    change_config(folder, problem_type="regression")
    at = open_link("predictions", model="another ...", other=str(folder), a=RIVER, head="L0 H0")
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        score = float(model(**AutoTokenizer.from_pretrained(folder)(RIVER, return_tensors="pt")).logits)
    assert answers(at)["score"].tolist() == pytest.approx([score], abs=1e-5)
    assert any(f"RISK {decimal(score)}" == each.value.replace("\\", "") for each in at.markdown)
    assert "the score of RISK changes by" in page_text(at)


def test_cutting_of_long_text_is_reported(tmp_path):
    folder = str(embedder(save_tiny(FAMILIES["BERT"], tmp_path / "tiny"), sentence_bert_config={"max_seq_length": 6}))
    link = {"model": "another ...", "other": folder, "asked": "Two sentences", "head": "L0 H0"}
    at = open_link("predictions", a=RIVER, b="She sat.", **link)
    lost = 'tiny reads 6 of the 10 tokens of A. The text is cut at "river" (word 5 of 8), so 50\u00a0% of the words'
    assert lost in page_text(at).replace("\\", "")
    encoder = load_encoder(folder, device="cpu")
    states = encoder.encode(RIVER).states[-1], encoder.encode("She sat.").states[-1]
    whole = torch.nn.functional.cosine_similarity(*(own.mean(dim=0) for own in states), dim=0)
    assert f"and {decimal(float(whole))} for the whole texts." in page_text(at)
    assert [word["text"] for word in live(at, "similar")["sides"][0]["words"]] == ["The", "bank", "of", "the"]
    at = open_link("predictions", a="bank " * 100, b="She sat.", **link)  # too long for the encoder itself too
    assert "tiny reads 6 of the 102 tokens of A." in page_text(at) and "read whole" not in page_text(at)


def test_page_shows_sentence_effects_for_long_text(tmp_path, monkeypatch):
    monkeypatch.setattr(sentences, "LONG", 20)
    folder = str(save_tiny(FAMILIES["BERT"], tmp_path / "tiny", classes=("BAD", "GOOD")))
    text = "The bank was muddy. She sat by the water.\nThe loan was approved. It rained."
    link = {"model": "another ...", "other": folder, "a": text, "head": "L0 H0"}
    at = open_link("predictions", **link)
    encoder = load_encoder(folder, device="cpu")
    head, tokens = load_class_head(encoder), encoder.encode(text)
    target = class_score(head, int(head.logits(tokens.states[-1]).argmax()))(tokens)
    found = explain(encoder, tokens, target, sentences=sentences.sentences_of(tokens))
    (shown,) = live(at, "shaded")["rows"]
    assert [each["text"] for each in shown["words"]] == [each.text for each in found.sentences]
    assert [each["number"] for each in shown["words"]] == [change(float(effect)) for effect in found.by_sentence]
    assert [each["kind"] == "named" for each in shown["words"]] == found.sentence_frame["named"].tolist()
    assert "the margin of" in page_text(at) and len(live(at, "heads")["said"]) == 12
    at = open_link("predictions", passage="1.3", **link)
    assert live(at, "shaded")["opened"] == [0, 2] and at.query_params["passage"] == "1.3"
    at = open_link("predictions", passage="1.9", **link)
    assert "The link opens sentence 1.9, which doesn't exist." in page_text(at) and "passage" not in at.query_params


def test_address_says_which_words_are_hidden():
    link = {"asked": "Two sentences", "a": "We sat by the bank.", "b": "We sat by the river."}
    at = open_link("predictions", hide_a="bank", hide_b="moon", **link)
    assert live(at, "similar")["hidden"] == [4, None]
    assert "hide_b" not in at.query_params and at.query_params["hide_a"] == "bank"
    assert 'The link hides "moon"' in page_text(at).replace("\\", "").replace("'moon'", '"moon"')


def test_page_compares_cosine_with_cosines_of_unrelated_sentences():
    at = open_link("predictions", asked="Two sentences")
    at.button_group(key="similar").set_value("a negation").run()
    data = live(at, "similar")
    assert at.text_area(key="b").value == "It's an exchange or return."
    assert data["finding"] == 'The texts differ only by "not" in A, which lowers the cosine by 0.09.'
    assert data["unrelated"]["median"] == 0.073 and "Compare with" not in [button.label for button in at.button]


def test_cosines_of_unrelated_sentences_are_measured_once(tmp_path, monkeypatch):
    long = replace(FAMILIES["BERT"], settings={"max_position_embeddings": 256})
    folder = embedder(save_tiny(long, tmp_path / "tiny"))
    change_config(folder, "tokenizer_config.json", model_max_length=256)
    monkeypatch.setenv("SELFATTN_CACHE", str(tmp_path / "kept"))
    link = {"model": "another ...", "other": str(folder), "a": RIVER, "b": "She sat by the water."}
    at = open_link("predictions", asked="Two sentences", **link)
    assert live(at, "similar")["unrelated"] is None
    (compare,) = (button for button in at.button if button.label == "Compare with 1,000 pairs of unrelated sentences")
    measured = live(compare.click().run(), "similar")["unrelated"]
    assert len(measured["cosines"].split(",")) == 1000
    at = open_link("predictions", asked="Two sentences", **link)
    assert live(at, "similar")["unrelated"] == measured


def test_chosen_word_is_masked(folders, monkeypatch):
    at = open_link("predictions", model="another ...", other=folders["before"], a=RIVER, head="L0 H0")
    assert "The [MASK] of the river was muddy." in page_text(at) and len(answers(at)) == 10
    at.selectbox(key="gap").set_value(4)
    at.selectbox(key="target").set_value(3).run()
    assert "The bank of the [MASK] was muddy." in page_text(at)
    assert f'log p of "{answers(at)["token"][3]}" changes by' in page_text(at)
    heads = effects(at)
    least = 0.9 * float(heads.abs().max())
    monkeypatch.setitem(NOISE, "float32", least / OF_LOG_PROBABILITY)
    hidden = int((effects(at.run()) == 0).sum())
    assert hidden == int((heads.abs() < least).sum()) > 0
    assert f"Smaller effects, in {hidden} of {len(heads)} heads, are drawn as 0." in page_text(at)
    at.text_area(key="a").set_value("Rain.").run()  # fewer words than before
    assert "[MASK]" in page_text(at)
    at.text_area(key="a").set_value("The [MASK] of the river.").run()
    at.selectbox(key="gap").set_value(4).run()
    assert "Mask one word" in page_text(at)


def test_page_reports_lack_of_memory(monkeypatch):
    def fail(encoder, *arguments, **options):
        raise OutOfMemory("96 text(s) of 9 tokens need more memory than cuda has left.")

    monkeypatch.setattr(Encoder, "changed_vectors", fail)
    at = open_link(a="A swan on a lake.", b="A swan flew over.")
    assert [message.value.replace("\\", "") for message in at.error] == [
        "96 text(s) of 9 tokens need more memory than cuda has left."
    ]
    assert at.text_input(key="a").value == "A swan on a lake."


def test_garbage_is_collected_after_pictures_are_shown(tmp_path, monkeypatch):
    """Collecting first would delay the pictures by 0.25 s."""
    events, show, collect = [], figures.show_live, gc.collect
    monkeypatch.setattr(figures, "show_live", lambda *given: (events.append("picture"), show(*given)))
    monkeypatch.setattr(gc, "collect", lambda: events.append("collection") or collect())
    gc.unfreeze()
    open_link(model="another ...", other=str(save_tiny(FAMILIES["BERT"], tmp_path / "tiny")))
    assert events.count("collection") == 1 and events.index("picture") < events.index("collection")
    assert gc.get_freeze_count()
