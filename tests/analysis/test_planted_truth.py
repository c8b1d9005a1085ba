"""Train encoders so that one word decides the answer, and test that hiding words one by one finds this word."""

import math
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import binom
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy
from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer

from selfattn import load_encoder
from selfattn.analysis.explaining import explain
from selfattn.encoders.classification import load_class_head, load_tag_head
from selfattn.encoders.sources import resolve
from selfattn.views.predictions import class_question, tag_question
from selfattn.words import to_groups

pytestmark = pytest.mark.long

RECORDED = Path(__file__).parents[2] / "benchmarks" / "RESULTS.md"
JUDGED = 100  # number of test sentences
BATCH = 32  # sentences per training step
FROZEN = 2  # number of first layers that aren't trained


def shuffled(words: str) -> list[str]:
    split = words.split()
    random.Random(0).shuffle(split)
    return split


ADJECTIVES = shuffled(
    "amber ancient bright broken bronze clean cold copper crimson crooked curved dusty empty famous foreign gentle golden heavy "
    "hollow humble iron ivory leather little lonely marble modern narrow noble orange painted paper plain polished pretty purple "
    "quiet round rusty scarlet shallow silent silver slender small smooth soft square stone strange striped sturdy velvet violet "
    "wooden yellow"
)
NOUNS = shuffled(
    "barrel basket bell boat bottle bowl box bridge bucket cabin candle cart chair chest clock coat cup curtain desk door drum "
    "fence flag garden gate glass hammer hat house jar kettle key knife ladder lamp mirror piano plate pot ring rope shelf shirt "
    "shoe spoon table tent tower tray vase wagon wall wheel window"
)
LEFT, RIGHT = ADJECTIVES[:6], ADJECTIVES[6:12]  # the decisive words: the answer is LEFT or RIGHT
# FILLERS and NAMED are each (words for training, words for testing).
FILLERS, NAMED = (ADJECTIVES[12:34], ADJECTIVES[34:]), (NOUNS[:30], NOUNS[30:])
THREE = (
    [
        "The {} {} stood beside a {} {} and the {} {}.",
        "She carried her {} {} past the {} {} to a {} {}.",
        "They sold a {} {}, a {} {} and a {} {}.",
        "Behind the {} {} was his {} {}, under a {} {}.",
        "We saw one {} {} near some {} {} with its {} {}.",
        "A {} {} fell on the {} {} while the {} {} was moved.",
        "Take the {} {} away from my {} {} and that {} {}.",
        "He wanted the {} {}; she chose the {} {} or the {} {}.",
    ],
    [
        "After lunch a {} {} arrived with the {} {} and one {} {}.",
        "Nobody had painted our {} {} since the {} {} hid the {} {}.",
        "Is the {} {} older than your {} {} or their {} {}?",
        "Between the {} {} and the {} {} lay another {} {}.",
        "I bought this {} {} because the {} {} matched a {} {}.",
        "Please put a {} {} below the {} {}, not in that {} {}.",
    ],
)
TWO = (
    [
        "The {} {} {} stood beside the {} {} {}.",
        "She carried her {} {} {} past a {} {} {}.",
        "They sold a {} {} {} and one {} {} {}.",
        "Behind the {} {} {} was his {} {} {}.",
        "We saw some {} {} {} near its {} {} {}.",
        "A {} {} {} fell on the {} {} {} yesterday.",
    ],
    [
        "After lunch a {} {} {} arrived with that {} {} {}.",
        "Nobody had painted our {} {} {} since the {} {} {} broke.",
        "Is the {} {} {} older than your {} {} {}?",
        "I bought this {} {} {} because my {} {} {} was lost.",
    ],
)
QUERIES = (
    ["Where is the {} one?", "Did you see anything {}?", "Which of them is {}?", "I look for a {} thing."],
    ["Is there something {} to be found?", "Show me what is {}.", "Has anybody a {} one?"],
)


@dataclass(frozen=True)
class Planted:
    """One or two texts, the right label (a class, a tag or a match), and the word that decides the label."""

    texts: tuple[str, ...]
    answer: int
    word: str
    noun: str = ""  # the noun whose tag is the answer
    others: tuple[tuple[str, int], ...] = ()  # other nouns and their tags


def drawn(rng: np.random.Generator, words: list[str], n: int) -> list[str]:
    return rng.choice(words, n, replace=False).tolist()


def decisive(rng: np.random.Generator, adjectives: list[str], places: range, unseen: bool) -> tuple[int, str]:
    """Put a word of LEFT or RIGHT at one of `places`, or change nothing. Return the answer and the word.

    The answer: 0 for LEFT, 1 for RIGHT, 2 for no change.
    """
    side = int(rng.integers(2 if unseen else 3))
    if side == 2:
        return side, ""
    at = places[rng.integers(len(places))]
    adjectives[at] = drawn(rng, [word for word in (LEFT, RIGHT)[side] if word not in adjectives], 1)[0]
    return side, adjectives[at]


def filled(rng: np.random.Generator, templates: list[str], phrases: list[list[str]]) -> str:
    return str(rng.choice(templates)).format(*(word for phrase in phrases for word in phrase))


def classified(rng: np.random.Generator, unseen: bool) -> Planted:
    """Make a sentence in which one adjective decides the class."""
    adjectives = drawn(rng, FILLERS[unseen], 3)
    side, word = decisive(rng, adjectives, range(3), unseen)
    return Planted((filled(rng, THREE[unseen], [*zip(adjectives, drawn(rng, NAMED[unseen], 3))]),), side, word)


def scored(rng: np.random.Generator, unseen: bool) -> Planted:
    """Make a query and a document. They match if they share an adjective."""
    adjectives = drawn(rng, FILLERS[unseen] if unseen else LEFT + RIGHT + FILLERS[unseen], 4)
    fits = unseen or bool(rng.integers(2))
    word = drawn(rng, LEFT + RIGHT, 1)[0] if unseen else adjectives[3]
    if fits:
        adjectives[rng.integers(3)] = word
    document = filled(rng, THREE[unseen], [*zip(adjectives, drawn(rng, NAMED[unseen], 3))])
    return Planted((str(rng.choice(QUERIES[unseen])).format(word), document), int(fits), word)


def tagged(rng: np.random.Generator, unseen: bool) -> Planted:
    """Make a sentence in which adjectives decide the tags of two nouns."""
    adjectives, nouns = drawn(rng, FILLERS[unseen], 4), drawn(rng, NAMED[unseen], 2)
    sides = [decisive(rng, adjectives, places, unseen) for places in (range(2), range(2, 4))]
    asked = int(rng.integers(2))
    text = filled(rng, TWO[unseen], [[*adjectives[:2], nouns[0]], [*adjectives[2:], nouns[1]]])
    other = nouns[1 - asked], sides[1 - asked][0]
    return Planted((text,), *sides[asked], nouns[asked], (other,))


@dataclass(frozen=True)
class Task:
    """A question that an encoder is trained to answer."""

    draw: Callable[[np.random.Generator, bool], Planted]
    labels: tuple[str, ...]
    steps: int


TASKS = {
    "a class": Task(classified, ("LEFT", "RIGHT", "NEITHER"), 60),
    "a score": Task(scored, ("SCORE",), 100),
    "a tag": Task(tagged, ("B-LEFT", "B-RIGHT", "O"), 150),
}


def trained(task: Task, folder: Path, steps: int) -> str:
    """Train the bundled encoder with a new output head, and save the encoder."""
    start = resolve(load_encoder(device="cpu").name).folder
    tokenizer = AutoTokenizer.from_pretrained(start)
    loader = AutoModelForTokenClassification if task.draw is tagged else AutoModelForSequenceClassification
    torch.manual_seed(0)
    model = loader.from_pretrained(start, id2label=dict(enumerate(task.labels))).eval()  # no dropout
    for part in (model.bert.embeddings, *model.bert.encoder.layer[:FROZEN]):
        part.requires_grad_(False)
    moved = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer, rng = torch.optim.AdamW(moved), np.random.default_rng(0)
    for step in range(steps):
        examples = [task.draw(rng, False) for _ in range(BATCH)]
        inputs = tokenizer(*map(list, zip(*(each.texts for each in examples))), padding=True, return_tensors="pt")
        logits, answers = model(**inputs).logits, torch.tensor([each.answer for each in examples])
        if task.draw is tagged:
            loss = cross_entropy(*of_nouns(tokenizer, inputs, logits, examples))
        elif len(task.labels) == 1:
            loss = binary_cross_entropy_with_logits(logits[:, 0], answers.float())
        else:
            loss = cross_entropy(logits, answers)
        optimizer.param_groups[0]["lr"] = 5e-4 * min((step + 1) / 10, 1 - step / steps)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def of_nouns(tokenizer, inputs, logits, examples):
    """Return the logits and the tags of all nouns."""
    rows, columns, tags = [], [], []
    for row, each in enumerate(examples):
        for noun, tag in ((each.noun, each.answer), *each.others):
            rows.append(row)
            columns.append(inputs["input_ids"][row].tolist().index(tokenizer.convert_tokens_to_ids(noun)))
            tags.append(tag)
    return logits[rows, columns], torch.tensor(tags)


def judged(task: Task, folder: str) -> Counter:
    """Count the right answers, and how often each method ranks the decisive word first."""
    encoder = load_encoder(folder, device="cpu")
    head = (load_tag_head if task.draw is tagged else load_class_head)(encoder)
    rng, found = np.random.default_rng(1), Counter()
    for _ in range(JUDGED):
        planted = task.draw(rng, True)
        sentence, rows = encoder.encode(*planted.texts), (0,)  # a classification head reads the first token
        if planted.noun:
            at = [word.text for word in sentence.words].index(planted.noun)
            rows, question = sentence.words[at].positions, tag_question(head, sentence, at)
        else:
            question = class_question(head, sentence)
        logits = head.logits(sentence.states[-1][list(rows)] if planted.noun else sentence.states[-1])
        answer = int(logits.argmax()) if len(logits) > 1 else int(logits > 0)
        explained = explain(encoder, sentence, question.asked(sentence), heads=())
        words = [explained.words[at] for at in explained.order]
        weights = to_groups(sentence.word_rows(rows), [word.positions for word in words]).mean(dim=(0, 1))
        by_weight = [words[at] for at in weights.argsort(descending=True).tolist()]
        n = sum(word.text == planted.word for word in words)
        found["right"] += answer == planted.answer
        found["hiding"] += all(word.text == planted.word for word in words[:n])
        found["attention"] += all(word.text == planted.word for word in by_weight[:n])
        found["chance"] += 1 / math.comb(len(words), n)
    return found


@pytest.mark.parametrize("name", TASKS)
def test_hiding_words_finds_decisive_word(name, tmp_path):
    task = TASKS[name]
    found, untrained = (judged(task, trained(task, tmp_path / str(steps), steps)) for steps in (task.steps, 0))
    row = [found["right"], found["hiding"], found["attention"], untrained["hiding"], round(found["chance"])]
    print(f"| {name} | {' | '.join(map(str, row))} |")
    assert found["right"] >= 95 and found["hiding"] >= 95
    chance = found["chance"] / JUDGED
    assert untrained["hiding"] <= binom.ppf(0.999, JUDGED, chance)
    recorded = re.search(rf"^\| {name} \|([\d |]+)\|$", RECORDED.read_text(), re.MULTILINE)
    assert recorded and [*map(int, recorded[1].split("|"))] == pytest.approx(row, abs=5)
