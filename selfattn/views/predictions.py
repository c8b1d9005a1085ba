"""Make the panels about predictions: a class, a tag, the similarity of two texts, or a masked word."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pandas as pd
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.explaining import OPENED, Explained
from selfattn.analysis.sentences import DRAWS
from selfattn.analysis.targets import Asked, class_score, gap_word, similarity, tag_score
from selfattn.charts.bars import bar_list
from selfattn.encoders.classification import ClassHead, TagHead
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.heads_on_top import CLASSES, MASKED, TAGS, carries
from selfattn.encoders.masked_lm import MaskedHead
from selfattn.encoders.placed_word import Tokens
from selfattn.encoders.pooling import Pooling
from selfattn.panel import Panel, Tables
from selfattn.tidy_tables import explained_heads_frame, explained_words_frame, sentence_words
from selfattn.views.dots_and_heads import heads_panel
from selfattn.views.explained import Write, explained_data
from selfattn.views.rounding import OF_LOG_PROBABILITY, noise_floor
from selfattn.views.shaded import Tint, shaded_data, shaded_picture

TOP = 10  # words listed for a mask
FLOOR = 0.1  # part of the largest effect of a single word: if hiding all words has less effect, the note says so
QUOTED = 70  # characters of a quoted sentence, at most
OUTSIDE = "O"  # the BIO tag of a word without an entity


@dataclass(frozen=True, eq=False)
class Question:
    """A question about a number that an encoder computes, such as a logit."""

    sentence: Encoding
    asked: Asked
    key: tuple  # identifies the number in cache keys
    python: str  # code that assigns `asked`
    what: str  # the number's name: "the cosine"
    write: Write
    answer: str = ""  # the answer in words
    where: str = ""  # " in A" if there are two sentences
    answers: pd.DataFrame = field(default_factory=pd.DataFrame)  # all answers: token or class, probability or score
    whole: Tokens | None = None  # the uncut text, if the embedder cuts it

    @property
    def said(self) -> str:
        """The name of the number and of its sentence, such as "the cosine in A"."""
        return f"{self.what}{self.where}"


def first_asked(encoder: Encoder, gap: bool) -> str:
    """Return the kind of prediction that page Predictions shows first, such as "tag".

    gap: True if the link names a word to mask
    """
    config = encoder.model.config
    if carries(config, CLASSES):
        return "pair" if config.num_labels == 1 and not config.problem_type else "class"
    if carries(config, TAGS):
        return "tag"
    return "gap" if gap or carries(encoder.model.config, MASKED) else "similarity"


def class_question(head: ClassHead, sentence: Encoding, chosen: str | None = None, where: str = "") -> Question:
    """Make a `Question` about the score of the class `chosen`, by default the likeliest class."""
    logits = head.logits(sentence.states[-1])
    named = f"{where.removeprefix(' in ').capitalize()}: " if where else ""
    number, table = _likeliest(head, logits, "class", chosen)
    python = _python(f"class_score(load_class_head(encoder), {number})", "classification")
    what, kind = "the score", "margin" if head.exclusive else "logit" if head.unit == "probability" else "score"
    if sentence.pair is not None and len(head.labels) == 1:
        share = (
            f" ({numbers.decimal(float(logits[0].sigmoid()), 3)} after CrossEncoder's sigmoid)" if head.sigmoid else ""
        )
        answer, table = f"{named}score {numbers.decimal(float(logits[0]))}{share}", table[:0]
    else:
        what, write = f"the {kind} of {head.labels[number]}", numbers.weight if head.activation else numbers.decimal
        answer = named + ", ".join(f"{label} {write(value)}" for label, value in table[:3].itertuples(index=False))
    asked = class_score(head, number)
    return Question(sentence, asked, ("class", number), python, what, numbers.change, answer, where, answers=table)


def tag_question(head: TagHead, sentence: Encoding, at: int, chosen: str | None = None) -> Question:
    """Make a `Question` about the margin (logit minus the largest other logit) of the tag `chosen`.

    chosen: by default the word's likeliest tag.
    """
    word = sentence.words[at]
    number, table = _likeliest(head, head.logits(sentence.states[-1][list(word.positions)]), "tag", chosen)
    python = _python(f"tag_score(load_tag_head(encoder), sentence.words[{at}], {number})", "classification")
    asked, what = tag_score(head, word, number), f"the margin of {head.labels[number]}"
    return Question(sentence, asked, ("tag", at, number), python, what, numbers.change, answers=table)


def _likeliest(head: ClassHead, logits: Tensor, kind: str, chosen: str | None) -> tuple[int, pd.DataFrame]:
    """Return the chosen (or likeliest) class's index, and a table of all classes."""
    answers = head.answers(logits).cpu()
    order = answers.argsort(descending=True).tolist()
    number = head.labels.index(chosen) if chosen in head.labels else order[0]
    return number, pd.DataFrame({kind: [head.labels[at] for at in order], head.unit: answers[order].tolist()})


def _python(asked: str, module: str) -> str:
    function, load = re.findall(r"\w+(?=\()", asked)[:2]
    return f"from selfattn.analysis.targets import {function}\nfrom selfattn.encoders.{module} import {load}\nasked = {asked}"


def most_certain(tags: pd.DataFrame) -> int:
    """Return the index of the word with the most probable tag, among the entities if there are any."""
    named = tags[tags["tag"] != OUTSIDE]
    return int((named if len(named) else tags)["probability"].idxmax())


def tags(sentence: Encoding, found: pd.DataFrame, chosen: int | None = None) -> Panel:
    """Make the panel that shows every word with its tag. chosen: index of the word that is asked about."""
    rows = [("tags", word, word.label, share, False) for word, share in zip(sentence.words, found["probability"])]
    tint = Tint("probability", numbers.weight, "probability {}", 1.0)
    data = shaded_data(sentence_words(rows, "row", "probability"), {"tags": "click a word to ask about its tag"}, tint)
    for at, (word, tag) in enumerate(zip(data["rows"][0]["words"], found["tag"])):
        word |= {"tip": f"{word['tip']} of {tag}", "kind": "chosen" if at == chosen else word["kind"]}
        word |= {"number": tag} if tag != OUTSIDE else {"number": "", "depth": 0}
    named = found[found["tag"] != OUTSIDE]
    finding = f"{len(named)} of {len(found)} words {'has' if len(named) == 1 else 'have'} a tag."
    listed = ", ".join(f'"{row.word}" {row.tag}' for row in named.itertuples())
    return Panel(
        name="tags",
        finding=finding,
        **shaded_picture({**data, "choose": "Ask about this word's tag", "finding": finding}),
        alt=listed or "No word has a tag.",
        tables=Tables({"tags": lambda: found}),
        method="A word's tag is the tag with the largest probability after softmax. If a word is split, its logits are the mean "
        "over its tokens. Tags are named as in the encoder's config.json. Neighbouring words aren't joined into one entity.",
    )


def similarity_questions(
    encoder: Encoder,
    pooling: Pooling,
    sides: Mapping[str, Encoding],
    whole: Mapping[str, Tokens] = MappingProxyType({}),
) -> list[Question]:
    """Return two questions: how hiding a word of text A, and how hiding a word of text B, changes the texts' cosine.

    whole: the full text, where `sides` has a shortened one. Raises TextError for a text longer than the embedder reads.
    """
    for side in sides.values():
        pooling.positions(side)
    return [
        Question(
            sides[name], similarity(encoder, pooling, sides[other]), ("similarity", sides[other].text),
            _python(f"similarity(encoder, load_pooling(encoder), {sides[other].text!r})", "pooling"),
            "the cosine", numbers.effect, where=f" in {name}", whole=whole.get(name),
        )
        for name, other in zip("AB", "BA")
    ]  # fmt: skip


def gap_question(head: MaskedHead, masked: Encoding, row: int) -> Question:
    """Return a question about the log probability of a likely word at the mask. row: the word's index in `head.predictions`.

    Raises TextError unless one token is masked.
    """
    table = head.predictions(masked, TOP)
    row = min(row, len(table) - 1)
    answer = ", ".join(f'"{each.text}" {numbers.weight(each.probability)}' for each in table.head(3).itertuples())
    token, what = int(table["id"][row]), f'log p of "{table["text"][row]}"'
    python = _python(f"gap_word(load_masked_head(encoder), {token})", "masked_lm")
    return Question(
        masked, gap_word(head, token), ("gap", token), python, what, numbers.change, answer,
        answers=table[["text", "probability"]].rename(columns={"text": "token"}),
    )  # fmt: skip


def words(found: Mapping[Question, Explained], answer: str = "") -> Panel:
    """Show in a panel how hiding words or sentences changes the number that each question asks about."""
    first, long = next(iter(found)), any(each.sentences for each in found.values())
    hidden = "word or sentence" if long else "word"
    rows = {f"change of {first.what} when a {hidden} is hidden{question.where}": question for question in found}
    by_row = {line: found[question] for line, question in rows.items()}
    wholes = {line: question.whole for line, question in rows.items() if question.whole}
    finding, lines, method = (_sentences if long else _words)(found)
    data = explained_data(by_row, first.what, first.write, wholes) | {"finding": finding}
    tables = {"words": lambda: explained_words_frame(by_row)}
    if long:
        frames = [
            each.sentence_frame.assign(where=question.where.removeprefix(" in ")) for question, each in found.items()
        ]
        tables = {"sentences": lambda: pd.concat(frames), **tables}
    return Panel(
        name="sentences" if long else "words",
        finding=finding,
        **shaded_picture(data),
        note=" ".join(filter(None, (answer, *lines))),
        alt=" ".join([finding, *lines]),
        tables=Tables(tables),
        method="\n\n".join([*method, *([_OF_PAIRS] if first.sentence.pair else [])]),
    )


def _words(found: Mapping[Question, Explained]) -> tuple[str, list[str], list[str]]:
    """Return the panel's finding, note lines and method paragraphs."""
    results = [(question, each) for question, each in found.items() if each.order]
    if not results:
        return "There is no word to hide.", [], [_HIDING]
    largest = max(results, key=lambda result: abs(float(result[1].effect[result[1].order[0]])))
    finding, *lines = filter(None, [_lead(found), _hide(*largest), _from(*largest), _together(*largest)])
    each_text = [f"{_hide(*result)} {_together(*result)}" for result in results] if len(results) > 1 else []
    return finding, lines, [_HIDING, *each_text]


def _sentences(found: Mapping[Question, Explained]) -> tuple[str, list[str], list[str]]:
    named = [(question, each, at) for question, each in found.items() for at in each.named]
    if not named:
        return (
            "No sentence has a larger effect than an equally long random set of the text's words.",
            [],
            [*_HIDING_SENTENCES],
        )
    question, each, at = max(named, key=lambda result: abs(float(result[1].by_sentence[result[2]])))
    text, words = each.sentences[at].text, {*each.sentences[at].words}
    quote = text if len(text) <= QUOTED else f"{text[: QUOTED - 4]} ..."
    moved = question.write(float(each.by_sentence[at]))
    order = [n for n in each.order if each.words[n] in words]
    alone = [
        f'In this sentence, "{each.words[n].label}" has the largest effect: {question.write(float(each.effect[n]))}.'
        for n in order[:1]
    ]
    finding = f'Hide "{quote}"{question.where}, and {question.what} changes by {moved}.'
    return finding, alone if len(order) > 1 else [], [*_HIDING_SENTENCES]


_OF_PAIRS = (
    "A model that is trained to highlight passages shows what people would highlight. This page shows the words on which "
    "the score depends."
)


def lead_frame(found: Mapping[Question, Explained]) -> pd.DataFrame:
    """Return a row for each word of a query and two documents.

    effect: how hiding the word changes the lead, which is document 1's score minus document 2's.
    """
    first, second = found.values()
    rows = []
    for n, (each, sign) in enumerate(((first, 1), (second, -1))):
        for word, effect in zip(each.words, each.effect.tolist()):
            place = f"document {n + 1}" if each.sentence.segments[word.start] else "query"
            rows.append((place, word.at, word.label, sign * effect, word.is_punctuation))
    frame = pd.DataFrame(rows, columns=["where", "at", "text", "effect", "punctuation"])
    frame = frame.groupby(["where", "at", "text", "punctuation"], as_index=False, sort=False)["effect"].sum()
    return frame[~frame["punctuation"]].drop(columns=["at", "punctuation"])


def _lead(found: Mapping[Question, Explained]) -> str:
    """State how much higher one document's score is, before and after an important word is hidden."""
    questions = [*found]
    if len(questions) != 2 or any(question.sentence.pair is None for question in questions):
        return ""
    what, lead = questions[0].what, found[questions[0]].number - found[questions[1]].number
    frame = lead_frame(found)
    in_one = frame.groupby(frame["text"].str.casefold())["where"].transform(
        lambda places: len({*places} - {"query"}) == 1
    )
    frame["unique"] = in_one.astype(bool) & (frame["where"] != "query")  # in one document only
    frame = frame[frame["effect"] * lead < 0]
    if not lead:
        return f"Both documents have the same {what.removeprefix('the ')}."
    first, second = ("1", "2") if lead > 0 else ("2", "1")
    ahead = f"{what[0].upper()}{what[1:]} is {numbers.decimal(abs(lead))} higher for document {first}"
    if frame.empty:
        return f"{ahead}."
    # Prefer a word that only one document has, if its effect is at least half the largest.
    large = frame[frame["effect"].abs() >= 0.5 * frame["effect"].abs().max()]
    word = large.loc[large["effect"].abs().where(large["unique"] | ~large["unique"].any()).idxmax()]
    both = " in both pairs" if word["where"] == "query" else ""
    rest = abs(lead) - abs(word["effect"])
    then = f"{numbers.decimal(abs(rest))} higher for document {first if rest > 0 else second}"
    then = then if abs(rest) >= 0.005 else "the same for both documents"
    return f'{ahead}. With "{word["text"]}" of {word["where"].replace("query", "the query")} hidden{both}, {what} is {then}.'


_HIDING = (
    "A hidden word is treated like padding: no token attends to the word, and a mean over tokens leaves it out. The other "
    "tokens keep their positions. Brown: the number falls without the word. Teal: the number rises. The encoder wasn't trained "
    "on texts with hidden words, so an effect shows that the encoder uses a word, not that the encoder needs the word."
)


_HIDING_SENTENCES = (
    "All tokens of a hidden sentence are treated like padding: no token attends to them, and a mean over tokens leaves them "
    "out. The other tokens keep their positions. A word whose tag is asked about is never hidden. A sentence ends at a line "
    "break. A sentence also ends at a full stop, question mark or exclamation mark before a blank, unless a lower-case letter "
    "follows. Single letters and common abbreviations don't end a sentence.",
    f"For a sentence's noise level, {DRAWS} random sets of words are hidden, each with at least as many tokens as the sentence. "
    "The noise level is the largest change that hiding one of these sets makes. For a sentence that matters no more than random "
    "words, the change exceeds the noise level once in 20 times. A text of fewer than three sentences has no noise levels.",
    f"Then each word of the {OPENED} sentences with the largest changes is hidden alone. If a sentence's change is within the "
    "noise level, the words of the sentence have no numbers. If two sentences say the same, hiding only one sentence may "
    "change nothing. Effects of single sentences and words don't add up.",
)


def _hide(question: Question, found: Explained) -> str:
    at = found.order[0]
    where, of = question.where, ""
    if question.sentence.pair is not None:  # the query is read with each document
        of = where.replace(" in ", " of ")
        where = f" in {'the document' if found.sentence.segments[found.words[at].start] else 'the query'}"
    moved = question.write(float(found.effect[at]))
    return f'Hide "{found.words[at].label}"{where}, and {question.what}{of} changes by {moved}.'


def _from(question: Question, found: Explained) -> str:
    before, after = found.number, found.number + float(found.effect[found.order[0]])
    what = question.what
    goes = f"{what[0].upper()}{what[1:]} goes from {numbers.decimal(before)} to {numbers.decimal(after)}"
    if not what.startswith("the margin"):
        return f"{goes}."
    stays = "stays" if after > 0 else "is no longer"
    then = f": the label {stays} the likeliest" if before > 0 else ""
    return f"{goes} (a margin is a logit minus the largest other logit){then}."


def _together(question: Question, found: Explained) -> str:
    """Compare the effect of hiding all words at once with the sum of the words' single effects."""
    if found.together != found.together:
        return "Hiding all words at once is impossible, because no token would be left."
    if len(found.words) == 1:
        return ""
    every, single = question.write(found.together), question.write(float(found.effect.sum()))
    where = (
        f" of query and {question.where.removeprefix(' in ') or 'document'}"
        if question.sentence.pair
        else question.where
    )
    said = (
        f"Hide all {len(found.words)} words{where}, and {question.what} changes by {every}. The effects of single words sum "
        f"to {single}."
    )
    if question.what == "the score" and abs(found.together) < FLOOR * float(found.effect.abs().max()):
        score = numbers.decimal(found.number + found.together)
        said += (
            f" Without any word, the score is still about {score}. Hiding a single word changes the score more than hiding all "
            "words does."
        )
    return said


def heads(question: Question, found: Explained, chosen: str, precision: str) -> Panel:
    """Make a map that shows how removing each head changes `question.what`, such as the score.

    Raises ValueError if no head can be removed.
    """
    if found.notes:
        raise ValueError(" ".join(found.notes))
    floor = {"effect": OF_LOG_PROBABILITY if question.key[0] != "similarity" else 1.0}
    frame, noise = noise_floor(explained_heads_frame(found), "effect", precision, floor)
    exact = frame[frame["how"] == "exact"]
    top = exact.loc[exact["effect"].abs().idxmax()]
    finding = f"Remove {top['name']}{question.where}, and {question.what} changes by {question.write(top['effect'])}."
    return heads_panel(
        f"heads{question.where}", finding, frame, "effect", chosen,
        look_of={"title": [f"change of {question.what}", "estimated; the largest are exact"]}, note=noise,
        method="A head is removed by setting the head's output to zero at every position. Effects are estimated to first order, "
        f"from a gradient. Only {len(exact)} of {len(frame)} heads are actually removed, one at a time: the heads with the "
        "largest estimates, and the chosen head. In other sentences, other heads may have the largest effects.",
    )  # fmt: skip


def answers(question: Question) -> Panel:
    """Make the panel of the question's answers, with the largest probability or score first."""
    table = question.answers
    label, value = table.columns
    first = table.iloc[0]
    finding = f'"{first[label]}" has the largest {value}: {numbers.weight(first[value])}.'
    return Panel(
        name="answers",
        finding=finding,
        picture=lambda look: bar_list(table.rename(columns={label: "token"}), value, look.theme, ".3f", width=300),
        alt=f"{finding} Next: {', '.join(map(str, table[label][1:]))}.",
        tables=Tables({"answers": lambda: table}),
    )
