"""The main view's sentences: each branch by hand-made numbers on both sides of its border."""

import math

import pandas as pd
import pytest

from selfattn import Head
from selfattn.captions import answer
from selfattn.captions.answer import Leader, Receiver, Swap

SAME_START = [1.0, 1.0, 0.9, 0.81]
LEADING, OTHER = Head(5, 7), Head(0, 4)
NAN = math.nan


def receivers(a="river", b="loan", itself=False, aside=frozenset()):
    return [Receiver("A", a, 0.2877, itself), Receiver("B", b, 0.561, False, aside)]


def effect(share, control=0.05, head=LEADING, best=None, **more):
    swap = Swap(share, control)
    return answer.head_effect(head, swap, "bank", receivers(**more), LEADING, best or swap)


# Where the vectors begin and end


def test_the_two_vectors_begin_as_one_and_half_of_the_change_comes_with_any_sentence():
    assert answer.paths(SAME_START, "bank", [1.0, 1.0, 0.95, 0.905], "river side") == (
        'Before attention, the two "bank" vectors are the same (cosine 1.00). After two layers their cosine is 0.81. '
        "Two sentences of one sense (river side) end at 0.91: about half of the change comes with a new sentence, the "
        "sense unchanged."
    )
    assert answer.paths_title(SAME_START) == "One vector goes in; two come out."


@pytest.mark.parametrize(
    ("token", "why"), [(1.0, "their positions differ"), (0.7, "the words are spelled differently")]
)
def test_vectors_that_differ_before_attention_and_why(token, why):
    curve = [token, 0.931, 0.5]
    text = answer.paths(curve, "bank")
    assert text == (
        f'Before attention, the two "bank" vectors have cosine 0.93, because {why}. After one layer their cosine is 0.50.'
    )
    assert answer.paths_title(curve) == "One word goes in; two vectors come out."


def test_embeddings_that_mix_in_the_neighbours_are_the_reason_at_one_position():
    text = answer.paths([1.0, 0.931, 0.5], "bank", same_position=True)
    assert "cosine 0.93, because this encoder's embeddings mix in the neighbours." in text


def test_a_control_of_no_known_sense_is_named_by_its_place():
    text = answer.paths(SAME_START, "bank", [1.0, 1.0, 0.95, 0.924])
    assert text.endswith(
        "Two sentences of one sense (A and the control) end at 0.92: about 40 % of the change comes with a new sentence, the "
        "sense unchanged."
    )


@pytest.mark.parametrize(
    ("control", "how"), [(0.81, "as far apart"), (0.807, "as far apart"), (0.7, "further apart still")]
)
def test_a_control_that_parts_as_far_says_that_it_need_not_be_the_sense(control, how):
    text = answer.paths(SAME_START, "bank", [1.0, 1.0, 0.9, control])
    assert text.endswith(f"end at {control:.2f}, {how}: so this difference need not be about the sense.")


@pytest.mark.parametrize(("last", "hardly"), [(0.98, True), (0.96, False)])
def test_vectors_that_hardly_part(last, hardly):
    text = answer.paths([1.0, 1.0, last], "bank", [1.0, 1.0, 0.99])
    assert ("They hardly part" in text) == hardly and ("a new sentence" in text) != hardly


def test_more_than_twelve_layers_are_written_in_digits():
    assert "After twelve layers" in answer.paths([1.0] * 13 + [0.5], "bank")
    assert "After 24 layers" in answer.paths([1.0] * 25 + [0.5], "bank")


# One head


def test_the_head_that_matters_most():
    assert effect(0.246) == (
        'Head 7 of layer 5 matters most here. At "bank" it gives 0.29 of its attention to "river" in A and 0.56 to "loan" '
        'in B. With this head\'s output swapped for that in the other sentence, "bank" moves a quarter of the way to the other '
        '"bank" (25 %). From another sentence of A\'s own sense it moves 5 % of that way.'
    )
    assert answer.head_title(Swap(0.246, 0.05)) == "One head makes a quarter of the difference."
    assert answer.head_title(Swap(0.42, 0.05)) == "One head makes 42 % of the difference."


def test_the_heading_doubts_a_difference_that_one_sense_makes_too():
    title = answer.head_title(Swap(0.5, 0.05), control_as_far=True)
    assert title == "One head makes half of the difference, but one sense alone differs as much."


@pytest.mark.parametrize(
    ("aside", "words"),
    [
        ({"special tokens"}, "special tokens"),
        ({"the word itself", "special tokens"}, "special tokens and the word itself"),
    ],
)
def test_what_gets_more_is_not_passed_over(aside, words):
    text = effect(0.246, aside=frozenset(aside))
    assert f'to "river" in A and 0.56 to "loan" in B ({words} aside). With' in text


def test_a_head_that_was_chosen_instead_names_the_one_that_matters_most():
    text = effect(0.04, head=OTHER, best=Swap(0.246, 0.05))
    assert text.startswith(
        'Head 4 of layer 0 is shown. Head 7 of layer 5 matters most here (25 %). At "bank" the shown one gives'
    )
    assert 'moves 4 % of the way to the other "bank".' in text and "matters most here. " not in text


@pytest.mark.parametrize(
    ("share", "control", "why"),
    [
        (0.099, 0.0, "and that is no more than a tenth of the way."),
        (0.2, 0.11, "but a sentence of A's own sense moves it more than half as far."),
    ],
)
def test_no_single_head_stands_out_when_the_share_is_small_or_under_twice_its_control(share, control, why):
    text = effect(share, control)
    assert text.startswith(f'Head 7 of layer 5 moves it furthest, {why} At "bank" it gives 0.29')
    assert "matters most" not in text
    assert answer.head_title(Swap(share, control)) == "No single head stands out in this pair."


@pytest.mark.parametrize(("share", "control"), [(0.1, 0.05), (0.22, 0.11), (0.3, None), (0.1, -0.2)])
def test_a_head_stands_out_at_a_tenth_and_at_twice_its_control(share, control):
    assert effect(share, control).startswith("Head 7 of layer 5 matters most here.")


def test_a_shown_head_where_none_stands_out_is_the_subject():
    text = effect(0.02, head=OTHER, best=Swap(0.05, 0.04))
    assert text.startswith(
        "Head 4 of layer 0 is shown. Head 7 of layer 5 moves it furthest, and that is no more than a tenth of the "
        'way. At "bank" the shown one gives'
    )


@pytest.mark.parametrize(
    ("share", "moves"),
    [
        (-0.042, 'moves away from the other "bank", by 4 % of the way.'),
        (0.004, "stays where it is."),
        (0.051, 'moves 5 % of the way to the other "bank".'),
        (0.31, 'moves a third of the way to the other "bank" (31 %).'),
        (0.98, 'moves all the way to the other "bank" (98 %).'),
        (1.2, 'moves all the way to the other "bank" (120 %).'),
    ],
)
def test_how_far_the_word_moves(share, moves):
    assert f'"bank" {moves}' in effect(share)


def test_without_a_control_the_words_say_what_cannot_be_said():
    assert effect(0.246, None).endswith("No control sentence yet, so we can't say whether this is about the sense.")
    assert effect(0.246, NAN).endswith(answer.NO_CONTROL)


def test_the_sense_of_the_control_is_named_where_it_is_known():
    swap = Swap(0.246, 0.05)
    text = answer.head_effect(LEADING, swap, "bank", receivers(), LEADING, swap, "river side")
    assert text.endswith("From another sentence of A's own sense (river side) it moves 5 % of that way.")


def test_a_word_that_attends_to_itself():
    assert "to itself in A and 0.56 to" in effect(0.246, itself=True)


def test_two_vectors_that_are_the_same_cannot_be_moved():
    text = effect(NAN, NAN)
    assert text.startswith('At "bank", head 7 of layer 5 gives 0.29 of its attention to "river" in A')
    assert text.endswith("The two vectors are the same: no swap can move one.") and "%" not in text
    assert not Swap(NAN).stands_out and answer.head_title(Swap(NAN)).startswith("No single head")


# The map of all heads


@pytest.mark.parametrize(
    ("measure", "text"),
    [
        (
            "share",
            'With its output from the other sentence, L1 H0 moves "bank" furthest: 25 % of the way. Shares don\'t add up.',
        ),
        (
            "control_share",
            'With its output from the control, L0 H1 moves "bank" furthest: 8 % of the way. Shares don\'t add up.',
        ),
    ],
)
def test_the_map_names_its_largest_share(measure, text):
    shares = {"share": [0.1, NAN, 0.25, -0.4], "control_share": [0.05, 0.08, NAN, -0.9]}
    frame = pd.DataFrame({"name": ["L0 H0", "L0 H1", "L1 H0", "L1 H1"], **shares})
    assert answer.map_of_heads(frame, measure, "bank") == text
    assert answer.map_of_heads(frame.assign(share=NAN), "share", "bank").startswith("The two vectors are the same")


# Every head


def test_all_heads_bring_in_the_whole_difference():
    assert answer.all_swapped(Swap(1.0, 0.37), 1.0, "bank", True, True, "river side") == (
        'With every head\'s output at "bank" taken from B, A\'s "bank" is B\'s "bank" (cosine 1.00). Attention brought in '
        "the whole difference. From another sentence of A's own sense (river side) it moves 37 % of that way."
    )


@pytest.mark.parametrize(
    ("token", "position", "why"),
    [
        (True, False, "is its position"),
        (False, True, "is its spelling"),
        (True, True, "stays because its pieces all get the same mean output"),
    ],
)
def test_the_rest_after_all_heads(token, position, why):
    text = answer.all_swapped(Swap(0.83, None), 0.97, "bank", token, position)
    assert f"moves 83 % of the way to B's (cosine 0.97). The rest, 17 %, {why}. No control sentence yet" in text


def test_all_heads_of_two_vectors_that_are_the_same():
    assert answer.all_swapped(Swap(NAN), 1.0, "bank", True, True).endswith(
        "stays where it is: the two vectors are the same."
    )


# What one pair can't say, and an encoder that is shown only


def test_the_limit_names_another_leader_or_the_same_one():
    leader = Leader(Head(5, 10), 0.14, 0.07)
    assert answer.limit("bank", LEADING, 16, leader) == (
        'One pair is a hint: over 16 labelled sentences of "bank", head 10 of layer 5 leads (14 %; in this pair 7 %).'
    )
    assert answer.limit("bank", Head(5, 10), 16, leader) == (
        'One pair is a hint, but over 16 labelled sentences of "bank" the same head leads (14 %).'
    )


def test_the_limit_without_a_leader_or_without_labelled_sentences():
    assert answer.limit("bank", LEADING, 17).endswith('17 labelled sentences of "bank" show whether it holds.')
    assert answer.limit("gnome", LEADING).endswith('add labelled sentences of "gnome" to see whether it holds.')


WORKS = (
    "So no head can be swapped, removed or followed step by step here. The words, the whole head and the curve still "
    'work. Shown first is the head in which "bank" gives most to another word.'
)


def test_an_encoder_that_is_shown_only_says_what_is_missing_and_what_works():
    assert answer.shown_only("tiny", "it adds terms.", "bank") == (
        f"tiny's attention is shown, not recomputed: it adds terms. {WORKS}"
    )
    assert answer.shown_only("tiny", "", "bank") == f"tiny can't be differentiated. {WORKS}"


def test_an_encoder_whose_steps_alone_are_missing_says_what_the_rest_stands_on():
    assert answer.no_steps("it adds a second stream.") == (
        "The steps of this head are missing: it adds a second stream. The weights are the model's own; swap and removal "
        "change what its heads hand over, which was verified when it was loaded."
    )


# What the vectors mean, in words


def ranked(*rows):
    return pd.DataFrame(rows, columns=["sense", "cosine"])


def test_the_senses_of_the_nearest_sentences_state_by_state():
    before = ranked(("river", 1.0), ("money", 1.0), ("river", 0.99995), ("money", 0.99990), ("river", 0.9))
    after = ranked(("river", 0.9), ("river", 0.8), ("river", 0.7), ("money", 0.69))
    assert answer.nearest({"before attention": before, "after it": after}) == (
        "Senses of the three nearest: before attention 2 of river and 1 of money (1 more is as near); "
        "after it all three of river."
    )
    assert "(2 more are as near)" in answer.nearest({"x": ranked(*[("river", 1.0)] * 5)})


def test_a_word_without_labelled_sentences():
    assert answer.no_sentences("gnome") == (
        'There are no labelled sentences of "gnome", so what its vectors mean can\'t be said in words.'
    )


def test_receivers_are_the_words_that_get_most_besides_special_tokens_and_the_word_itself():
    rows = [("A", "[CLS]", 0.5, False, True), ("A", "bank", 0.3, True, False), ("A", "of", 0.05, False, False),
            ("A", "river", 0.15, False, False), ("B", "[CLS]", 0.9, False, True), ("B", "Bank", 0.1, True, False)]  # fmt: skip
    strip = [dict(zip(["sentence", "text", "weight", "chosen", "special"], row)) for row in rows]
    assert answer.receivers(strip) == [
        Receiver("A", "river", 0.15, False, frozenset({answer.SPECIAL, answer.ITSELF})),
        Receiver("B", "Bank", 0.1, True, frozenset({answer.SPECIAL})),
    ]
    plain = [row | {"special": False, "chosen": row["text"] == "[CLS]"} for row in strip]
    assert answer.receivers(plain)[0].aside == {answer.ITSELF}
