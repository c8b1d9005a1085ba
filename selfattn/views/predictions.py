"""Predictions: questions (a class, a score, a cosine, a tag, a word in a gap), and the words and heads they rest on."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pandas as pd
from torch import Tensor

from selfattn import numbers
from selfattn.analysis.explaining import OPENED, Explained
from selfattn.analysis.sentences import DRAWS
from selfattn.analysis.targets import Asked, class_score, gap_word, similarity, tag_score
from selfattn.charts.bars import bar_list
from selfattn.charts.dots import dot_rows
from selfattn.encoders.classification import ClassHead, TagHead
from selfattn.encoders.encoder import Encoder
from selfattn.encoders.encoding import Encoding
from selfattn.encoders.heads_on_top import CLASSES, MASKED, TAGS, carries
from selfattn.encoders.masked_lm import MaskedHead
from selfattn.encoders.placed_word import Tokens
from selfattn.encoders.pooling import Pooling
from selfattn.panel import Panel, Tables
from selfattn.senses import TargetReport
from selfattn.tidy_tables import explained_heads_frame, explained_words_frame, named_heads, sentence_words
from selfattn.views.dots_and_heads import dots_panel, heads_panel
from selfattn.views.explained import Write, explained_data
from selfattn.views.rounding import OF_LOG_PROBABILITY, noise_floor
from selfattn.views.shaded import Tint, shaded_data, shaded_picture

TOP = 10  # words of a gap
LISTED = 12  # words over many sentences
FLOOR = 0.1  # of the largest single effect: all words together that move a score by less don't make it
QUOTED = 70  # characters of a sentence in a finding
OUTSIDE = "O"  # the tag of a word that has none, in the BIO scheme


@dataclass(frozen=True, eq=False)
class Question:
    """One number that is asked of one sentence, and of those of a table."""

    sentence: Encoding
    asked: Asked
    key: tuple  # of results about it, beside the sentence
    python: str  # lines that make `asked`, of `encoder`
    what: str  # the number, in a sentence
    write: Write
    answer: str = ""  # what the encoder says, in words
    where: str = ""  # " in A", where two sentences are asked about
    answers: pd.DataFrame = field(default_factory=pd.DataFrame)  # token or class, probability or score
    whole: Tokens | None = None  # the text before the embedder cuts off its end

    @property
    def said(self) -> str:
        """The number, and of which sentence."""
        return f"{self.what}{self.where}"


def first_asked(encoder: Encoder, gap: bool) -> str:
    """The checkpoint's own task: "class", "pair" (a reranker's), "tag", "gap" (or where an old link asks), "similarity"."""
    config = encoder.model.config
    if carries(config, CLASSES):
        return "pair" if config.num_labels == 1 and not config.problem_type else "class"
    if carries(config, TAGS):
        return "tag"
    return "gap" if gap or carries(encoder.model.config, MASKED) else "similarity"


def class_question(head: ClassHead, sentence: Encoding, chosen: str | None = None, where: str = "") -> Question:
    """About a class, by its name in `head.labels`; another name or None: the likeliest, or the largest score.

    A head with one label gives two texts a score, its logit.
    """
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
    """About a tag of one word, by its place in the sentence's words. chosen: the tag's name; None: the word's likeliest."""
    word = sentence.words[at]
    number, table = _likeliest(head, head.logits(sentence.states[-1][list(word.positions)]), "tag", chosen)
    python = _python(f"tag_score(load_tag_head(encoder), sentence.words[{at}], {number})", "classification")
    asked, what = tag_score(head, word, number), f"the margin of {head.labels[number]}"
    return Question(sentence, asked, ("tag", at, number), python, what, numbers.change, answers=table)


def _likeliest(head: ClassHead, logits: Tensor, kind: str, chosen: str | None) -> tuple[int, pd.DataFrame]:
    """The number of the chosen class, or of the likeliest; and all classes, the likeliest first."""
    answers = head.answers(logits).cpu()
    order = answers.argsort(descending=True).tolist()
    number = head.labels.index(chosen) if chosen in head.labels else order[0]
    return number, pd.DataFrame({kind: [head.labels[at] for at in order], head.unit: answers[order].tolist()})


def _python(asked: str, module: str) -> str:
    """Lines that make `asked`, of `encoder` and `sentence`. module: of selfattn.encoders, with the function in `asked`."""
    function, load = re.findall(r"\w+(?=\()", asked)[:2]
    return f"from selfattn.analysis.targets import {function}\nfrom selfattn.encoders.{module} import {load}\nasked = {asked}"


def most_certain(tags: pd.DataFrame) -> int:
    """The place of the word with the surest tag that isn't "O"."""
    named = tags[tags["tag"] != OUTSIDE]
    return int((named if len(named) else tags)["probability"].idxmax())


def tags(sentence: Encoding, found: pd.DataFrame, chosen: int | None = None) -> Panel:
    """Every word with its tag. found: `TagHead.tags`. chosen: the place of the word that is asked about."""
    rows = [("tags", word, word.label, share, False) for word, share in zip(sentence.words, found["probability"])]
    tint = Tint("probability", numbers.weight, "probability {}", 1.0)
    data = shaded_data(sentence_words(rows, "row", "probability"), {"tags": "each word with its tag; click one"}, tint)
    for at, (word, tag) in enumerate(zip(data["rows"][0]["words"], found["tag"])):
        word |= {"tip": f"{word['tip']} of {tag}", "kind": "chosen" if at == chosen else word["kind"]}
        word |= {"number": tag} if tag != OUTSIDE else {"number": "", "depth": 0}
    named = found[found["tag"] != OUTSIDE]
    finding = f"{len(named)} of {len(found)} words {'has' if len(named) == 1 else 'have'} a tag."
    listed = ", ".join(f'"{row.word}" {row.tag}' for row in named.itertuples())
    return Panel(
        name="tags",
        finding=finding,
        **shaded_picture({**data, "choose": "Ask about its tag", "finding": finding}),
        alt=listed or "No word has a tag.",
        tables=Tables({"tags": lambda: found}),
        method="A tag is the likeliest after softmax; the logits of a word that is split are the mean over its tokens. Tags are "
        "shown as the encoder's folder names them; words are not joined to longer names.",
    )


def similarity_questions(
    encoder: Encoder,
    pooling: Pooling,
    sides: Mapping[str, Encoding],
    whole: Mapping[str, Tokens] = MappingProxyType({}),
) -> list[Question]:
    """About the cosine of two sentences, "A" and "B", asked of each. Raises TextError for a text that would be cut.

    whole: the texts whose end isn't in `sides`, because the embedder doesn't read it.
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


def gap_question(head: MaskedHead, masked: Encoding, row: int = 0) -> Question:
    """About one of the likeliest words of the gap, by its row. Raises TextError where there isn't one gap."""
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
    """What hiding each word, or each sentence of a long text, does to the answer. answer: what it is, for the note."""
    first, long = next(iter(found)), any(each.sentences for each in found.values())
    kind = "sentence" if long else "word"
    hidden = "word or sentence" if long else "word"
    said = {f"change of {first.what}, each {hidden} hidden{question.where}": question for question in found}
    named = {line: found[question] for line, question in said.items()}
    wholes = {line: question.whole for line, question in said.items() if question.whole}
    finding, lines, method = (_sentences if long else _words)(found)
    data = explained_data(named, first.what, first.write, wholes) | {"finding": finding}
    tables = {"words": lambda: explained_words_frame(named)}
    if long:
        frames = [
            each.sentence_frame.assign(where=question.where.removeprefix(" in ")) for question, each in found.items()
        ]
        tables = {"sentences": lambda: pd.concat(frames), **tables}
    return Panel(
        name=f"{kind}s",
        finding=finding,
        **shaded_picture(data),
        note=" ".join(filter(None, (answer, *lines))),
        alt=" ".join([finding, *lines]),
        tables=Tables(tables),
        method="\n\n".join([*method, *([_OF_PAIRS] if first.sentence.pair else [])]),
    )


def _words(found: Mapping[Question, Explained]) -> tuple[str, list[str], list[str]]:
    """The finding, further lines, and the method."""
    leads = [(question, each) for question, each in found.items() if each.order]
    if not leads:
        return "There is no word to hide.", [], [_HIDING]
    most = max(leads, key=lambda lead: abs(float(lead[1].effect[lead[1].order[0]])))
    finding, *lines = filter(None, [_lead(found), _hide(*most), _from(*most), _together(*most)])
    return finding, lines, [_HIDING, *(f"{_hide(*lead)} {_together(*lead)}" for lead in leads if len(leads) > 1)]


def _sentences(found: Mapping[Question, Explained]) -> tuple[str, list[str], list[str]]:
    named = [(question, each, at) for question, each in found.items() for at in each.named[:1]]
    if not named:
        return "No sentence matters more than as many words from anywhere in the text.", [], [*_HIDING_SENTENCES]
    question, each, at = max(named, key=lambda lead: abs(float(lead[1].by_sentence[lead[2]])))
    text, own = each.sentences[at].text, {*each.sentences[at].words}
    quote = text if len(text) <= QUOTED else f"{text[: QUOTED - 4]} ..."
    moved = question.write(float(each.by_sentence[at]))
    order = [n for n in each.order if each.words[n] in own]
    alone = [
        f'In it "{each.words[n].label}" alone moves it most: {question.write(float(each.effect[n]))}.'
        for n in order[:1]
    ]
    finding = f'Hide "{quote}"{question.where}, and {question.what} moves by {moved}.'
    return finding, alone if len(order) > 1 else [], [*_HIDING_SENTENCES]


_OF_PAIRS = (
    "A highlighting model, in contrast, is trained to mark passages: it says what people would mark, not what this score rests "
    "on."
)


def lead_frame(found: Mapping[Question, Explained]) -> pd.DataFrame:
    """Two documents for one query: where ("query", "document 1"), text, effect (of hiding the word on the lead of the first).

    A word of the query is hidden in both.
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
    """The word that makes the difference between two documents; "" for other questions."""
    questions = [*found]
    if len(questions) != 2 or any(question.sentence.pair is None for question in questions):
        return ""
    what, lead = questions[0].what, found[questions[0]].number - found[questions[1]].number
    frame = lead_frame(found)
    in_one = frame.groupby(frame["text"].str.casefold())["where"].transform(
        lambda places: len({*places} - {"query"}) == 1
    )
    frame["own"] = in_one.astype(bool) & (frame["where"] != "query")  # of this document only
    frame = frame[frame["effect"] * lead < 0]
    if not lead:
        return f"Both documents have the same {what.removeprefix('the ')}."
    first, second = ("1", "2") if lead > 0 else ("2", "1")
    ahead = f"Document {first} leads by {numbers.decimal(abs(lead))} in {what}"
    if frame.empty:
        return f"{ahead}."
    large = frame[
        frame["effect"].abs() >= 0.5 * frame["effect"].abs().max()
    ]  # among these, a word that the other hasn't got
    word = large.loc[large["effect"].abs().where(large["own"] | ~large["own"].any()).idxmax()]
    both = " in both" if word["where"] == "query" else ""
    rest = abs(lead) - abs(word["effect"])
    then = f"by {numbers.decimal(rest)}" if rest > 0 else f"document {second} by {numbers.decimal(-rest)}"
    then = then if abs(rest) >= 0.005 else "both score alike"
    return f'{ahead}; with "{word["text"]}" of {word["where"].replace("query", "the query")} hidden{both}, {then}.'


_HIDING = (
    "Each word is hidden from everything, as padding is: no token attends to it, positions stay, and a mean over tokens leaves "
    "it out. Brown: the answer falls without the word, so it rests on it; teal: it rises. What is left may read as nothing that "
    "the encoder was trained on, so this says what it uses, not what it needs."
)


_HIDING_SENTENCES = (
    "A sentence is hidden from everything, all its tokens at once, as padding is: no token attends to it, positions stay, and a "
    "mean over tokens leaves it out; a word whose tag is asked about stays. A sentence ends after a full stop, a question or an "
    "exclamation mark before a blank and no lower-case letter, and at a line break; not after a single letter or a common short "
    "form.",
    f"Noise level of a sentence: the largest change in {DRAWS} draws of at least as many tokens, in words from anywhere in the "
    "text. A sentence that is no more than its number of words passes it once in 20. Fewer than three sentences have none.",
    f"Then each word of the {OPENED} sentences of the largest changes is hidden alone. Words of a sentence within its noise "
    "level are not named. Sentences that say the same cover for one another; single sentences and words don't add up.",
)


def _hide(question: Question, found: Explained) -> str:
    at = found.order[0]
    where, of = question.where, ""
    if question.sentence.pair is not None:  # the query is read with each document
        of = where.replace(" in ", " of ")
        where = f" in {'the document' if found.sentence.segments[found.words[at].start] else 'the query'}"
    moved = question.write(float(found.effect[at]))
    return f'Hide "{found.words[at].label}"{where}, and {question.what}{of} moves by {moved}.'


def _from(question: Question, found: Explained) -> str:
    """The number before and after; of a margin, whether the class stays the likeliest."""
    before, after = found.number, found.number + float(found.effect[found.order[0]])
    goes = f"It goes from {numbers.decimal(before)} to {numbers.decimal(after)}"
    if not question.what.startswith("the margin"):
        return f"{goes}."
    then = f": {'it stays' if after > 0 else 'another becomes'} the likeliest" if before > 0 else ""
    return f"{goes} (a margin is a logit minus the next best){then}."


def _together(question: Question, found: Explained) -> str:
    if found.together != found.together:
        return "With all words hidden nothing would be left to ask."
    if len(found.words) == 1:
        return ""
    every, single = question.write(found.together), question.write(float(found.effect.sum()))
    where = (
        f" of query and {question.where.removeprefix(' in ') or 'document'}"
        if question.sentence.pair
        else question.where
    )
    said = f"All {len(found.words)} words{where} hidden at once: {every}; single words, which needn't add up: {single}."
    if question.what == "the score" and abs(found.together) < FLOOR * float(found.effect.abs().max()):
        score = numbers.decimal(found.number + found.together)
        said += (
            f" It scores {score} without any word: these words don't raise it, a single one that is missing lowers it."
        )
    return said


def heads(question: Question, found: Explained, chosen: str, precision: str) -> Panel:
    """What removing each head does to the answer. Raises ValueError for an encoder whose heads can't be removed."""
    if found.notes:
        raise ValueError(" ".join(found.notes))
    floor = {"effect": OF_LOG_PROBABILITY if question.key[0] != "similarity" else 1.0}
    frame, noise = noise_floor(explained_heads_frame(found), "effect", precision, floor)
    exact = frame[frame["how"] == "exact"]
    top = exact.loc[exact["effect"].abs().idxmax()]
    finding = f"Without {top['name']}{question.where}, {question.what} moves by {question.write(top['effect'])}."
    return heads_panel(
        f"heads{question.where}", finding, frame, "effect", chosen,
        look_of={"title": [f"change of {question.what}", "the largest are exact"]}, note=noise,
        method=f"Each head's output is set to zero at every position. By gradient, its first order; {len(exact)} of {len(frame)} "
        "are run: those that lead and the chosen one. Over other sentences other heads may lead.",
    )  # fmt: skip


def answers(question: Question) -> Panel:
    """The classes, or the likeliest words of the gap, with their probabilities; of a regression, the scores."""
    table = question.answers
    label, value = table.columns
    first, share = table.iloc[0], value == "probability"
    finding = f'{"The likeliest" if share else "The largest"} is "{first[label]}": {numbers.weight(first[value])}.'
    return Panel(
        name="answers",
        finding=finding,
        picture=lambda look: bar_list(table.rename(columns={label: "token"}), value, look.theme, ".3f", width=300),
        alt=f"{finding} Next: {', '.join(map(str, table[label][1:]))}.",
        tables=Tables({"answers": lambda: table}),
    )


def over_sentences(report: TargetReport, question: Question) -> Iterator[Panel]:
    """The means over a table: words with their intervals, then the heads that were run."""
    n, what, write = len(report.sentences), question.what, question.write
    known = report.words[(report.words["low"] > 0) | (report.words["high"] < 0)]
    finding = "No word that is in several sentences moves it clearly: each interval holds 0."
    if len(known):
        word = known.loc[known["effect"].abs().idxmax()]
        finding = f'Hiding "{word["word"]}" moves {what} by {write(word["effect"])} on average.'
    both = report.sentences[["together", "sum"]].dropna()  # only sentences with both: in some, nothing would be left
    together = (
        f" All words hidden at once: {write(both['together'].mean())}; single words: {write(both['sum'].mean())}."
        if len(both)
        else ""
    )
    mean = numbers.decimal(report.sentences["number"].mean())
    leading = report.words.assign(size=report.words["effect"].abs(), one=report.words["n"] < 2)
    leading = leading.sort_values(["one", "size"], ascending=[True, False], kind="stable")[:LISTED]
    labels = leading["word"] + " (" + leading["n"].astype(str) + ")"
    note = f"{numbers.count(n)} sentences; as they are, {what} is {mean}.{together}"
    tables = {"words": report.words, "sentences": report.sentences, "rejected": report.rejected}
    yield _means("words over sentences", finding, dot_rows(labels, leading, "effect"), note, tables)
    run = named_heads(report.heads.dropna(subset=["effect"]))
    if len(run):
        run = run.sort_values("effect", key=lambda effect: -effect.abs(), kind="stable")
        finding = f"Without {run['name'].iloc[0]} it moves by {write(run['effect'].iloc[0])} on average."
        note, drawn = "These eight heads were chosen by these very sentences.", dot_rows(run["name"], run, "effect")
        yield _means("heads over sentences", finding, drawn, note, {"heads": report.heads})


def _means(name: str, finding: str, drawn: pd.DataFrame, note: str, tables: Mapping[str, pd.DataFrame]) -> Panel:
    values = drawn[["value", "low", "high"]]
    ends = min(0.0, values.min(axis=None)), max(0.0, values.max(axis=None))
    more = {f"{own}, over sentences": table for own, table in tables.items()}
    return dots_panel(
        name, finding, drawn, guess=("no change", 0.0), domain=ends, format="+.3f", tables=more,
        note=f"{note} Lines: 95 % intervals.",
    )  # fmt: skip
