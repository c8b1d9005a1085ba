"""Hand-written English examples: word senses, pronouns, negations and a few plain words and sentences.

Nothing is generated from templates. All were written for this library but a few that are known from elsewhere: the
animal and the street, the first two banks, the movie and its soundtrack, the artist's score.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Pair:
    """One word in two senses, and a control: another sentence with the sense of the first.

    The word has equally many words before it in all three. The control shares as many words with the first sentence
    as the second does, so that a vector closer to the control's is closer for the sense, not for repeated words.
    """

    word: str
    first: str
    second: str
    control: str
    senses: tuple[str, str]  # what the word means in `first` (and `control`), and in `second`


@dataclass(frozen=True)
class PronounSentence:
    """A pronoun with two nouns before it that it could grammatically stand for; readers agree on one of them."""

    sentence: str
    pronoun: str
    antecedent: str  # the noun it stands for
    distractor: str  # the other noun: same number, compatible gender
    twin: str | None  # shared by two sentences that differ in one word, which turns the pronoun to the other noun


@dataclass(frozen=True)
class Negation:
    """A sentence and its negation, one word longer."""

    plain: str
    negated: str
    target_word: str  # the word whose meaning is turned round
    negator: str


PAIRS: tuple[Pair, ...] = (
    Pair(
        "bank",
        "The bank of the river.",
        "The bank approved the loan.",
        "The bank sloped toward the stream.",
        ("river side", "money house"),
    ),
    Pair(
        "bat",
        "The bat slept in the cave.",
        "The bat hit the ball hard.",
        "The bat flew after a moth.",
        ("flying animal", "hitting stick"),
    ),
    Pair(
        "spring",
        "This spring was cold and rainy.",
        "This spring pushes the lid open.",
        "This spring the tulips bloomed early.",
        ("warm season", "metal coil"),
    ),
    Pair(
        "crane",
        "The crane spread its wings.",
        "The crane lifted a steel beam.",
        "The crane waded through the marsh.",
        ("wading bird", "lifting machine"),
    ),
    Pair(
        "seal",
        "The seal swam to the shore.",
        "The seal on the jar broke.",
        "The seal balanced a red ball.",
        ("sea animal", "tight closure"),
    ),
    Pair(
        "pitch",
        "The pitch was muddy and slippery.",
        "The pitch of his voice rose.",
        "The pitch behind the school flooded.",
        ("sports field", "sound height"),
    ),
    Pair(
        "match",
        "He struck a match and waited.",
        "They won the match and celebrated.",
        "Tom lit another match and shivered.",
        ("fire stick", "sports contest"),
    ),
    Pair(
        "bark",
        "The bark peeled off the birch.",
        "The bark frightened the burglar away.",
        "The bark felt rough and dry.",
        ("tree skin", "dog sound"),
    ),
    Pair(
        "light",
        "A light shone in the window.",
        "A light suitcase is easily carried.",
        "The light of dawn woke us.",
        ("visible brightness", "not heavy"),
    ),
    Pair(
        "ring",
        "The ring sparkled on her finger.",
        "The ring was surrounded by ropes.",
        "The ring held a tiny diamond.",
        ("finger jewel", "boxing arena"),
    ),
    Pair(
        "plant",
        "The plant needs water and sunshine.",
        "The plant makes engines for trucks.",
        "The plant grew three new leaves.",
        ("green organism", "factory site"),
    ),
    Pair(
        "cell",
        "The cell had an iron door.",
        "The cell split into equal halves.",
        "The cell held four sleeping prisoners.",
        ("prison room", "body unit"),
    ),
    Pair(
        "mouse",
        "I heard a mouse behind the wall.",
        "He bought a mouse for his laptop.",
        "They caught another mouse in the cellar.",
        ("small rodent", "computer pointer"),
    ),
    Pair(
        "star",
        "The star twinkled above the roofs.",
        "The star posed for the cameras.",
        "The star exploded long ago.",
        ("distant sun", "famous performer"),
    ),
    Pair(
        "palm",
        "The palm swayed in the breeze.",
        "The palm of her hand itched.",
        "The palm dropped a ripe coconut.",
        ("tropical tree", "inner hand"),
    ),
    Pair(
        "trunk",
        "The trunk of the elephant swayed.",
        "The trunk holds three large suitcases.",
        "The trunk reached for a peanut.",
        ("elephant nose", "car compartment"),
    ),
    Pair(
        "wave",
        "The wave tossed the little boat.",
        "The wave was friendly but brief.",
        "The wave soaked both of us.",
        ("sea swell", "hand greeting"),
    ),
    Pair(
        "nail",
        "The nail bent under the hammer.",
        "The nail on her thumb broke.",
        "The nail rusted in the wall.",
        ("metal pin", "finger tip"),
    ),
    Pair(
        "organ",
        "The organ accompanied the choir.",
        "The organ was donated by a stranger.",
        "The organ thundered through the cathedral.",
        ("church instrument", "body part"),
    ),
    Pair(
        "note",
        "The note was written in pencil.",
        "The note was sung too high.",
        "The note was short but polite.",
        ("written message", "musical tone"),
    ),
    Pair(
        "jam",
        "We ate the jam with a spoon.",
        "We cursed the jam on the highway.",
        "We made the jam from ripe plums.",
        ("fruit spread", "traffic block"),
    ),
)


def _twins(
    name: str, pattern: str, pronoun: str, nouns: tuple[str, str], words: tuple[str, str]
) -> tuple[PronounSentence, PronounSentence]:
    """Two sentences from one with a gap (_): the first word makes the pronoun mean nouns[0], the second nouns[1]."""
    left, right = nouns
    return (
        PronounSentence(pattern.replace("_", words[0]), pronoun, left, right, name),
        PronounSentence(pattern.replace("_", words[1]), pronoun, right, left, name),
    )


# In half of the sentences the antecedent is the first of the two nouns, in half the second: for each pronoun, too.
PRONOUNS: tuple[PronounSentence, ...] = (
    *_twins(
        "animal-street",
        "The animal didn't cross the street because it was too _.",
        "it",
        ("animal", "street"),
        ("tired", "wide"),
    ),
    *_twins(
        "truck-bridge",
        "The truck got stuck under the bridge because it was too _.",
        "it",
        ("truck", "bridge"),
        ("tall", "low"),
    ),
    *_twins(
        "key-lock",
        "The key would not go into the lock because it was too _.",
        "it",
        ("key", "lock"),
        ("thick", "narrow"),
    ),
    *_twins("dog-bone", "The dog gnawed at the bone until it was _.", "it", ("dog", "bone"), ("sleepy", "bare")),
    *_twins(
        "ship-rock",
        "The ship struck a rock because it was _.",
        "it",
        ("ship", "rock"),
        ("speeding", "hidden"),
    ),
    *_twins(
        "lamp-curtain",
        "We moved the lamp away from the curtain, since it was _.",
        "it",
        ("lamp", "curtain"),
        ("hot", "flammable"),
    ),
    *_twins(
        "tree-house",
        "When the tree fell on the house, it lost several _.",
        "it",
        ("tree", "house"),
        ("branches", "windows"),
    ),
    *_twins(
        "eagle-fish",
        "The eagle dropped the fish because it was too _.",
        "it",
        ("eagle", "fish"),
        ("weak", "heavy"),
    ),
    *_twins(
        "horse-saddle",
        "The horse shook off the saddle because it was _.",
        "it",
        ("horse", "saddle"),
        ("nervous", "loose"),
    ),
    *_twins(
        "museum-painting",
        "The museum sold the painting, even though it was _.",
        "it",
        ("museum", "painting"),
        ("rich", "priceless"),
    ),
    *_twins(
        "bee-flower",
        "A bee settled on the flower because it was _.",
        "it",
        ("bee", "flower"),
        ("weary", "fragrant"),
    ),
    *_twins(
        "car-tractor",
        "The car easily overtook the tractor, since it was so much _.",
        "it",
        ("car", "tractor"),
        ("faster", "slower"),
    ),
    *_twins(
        "knife-bread",
        "If the knife will not cut the bread, it must be _.",
        "it",
        ("knife", "bread"),
        ("blunt", "frozen"),
    ),
    *_twins(
        "company-factory",
        "The company sold the factory because it needed _.",
        "it",
        ("company", "factory"),
        ("cash", "repairs"),
    ),
    *_twins(
        "grandmother-girl",
        "The grandmother scolded the girl because she was _.",
        "she",
        ("grandmother", "girl"),
        ("strict", "rude"),
    ),
    *_twins(
        "maid-queen",
        "The maid woke the queen because she was _.",
        "she",
        ("maid", "queen"),
        ("worried", "snoring"),
    ),
    *_twins(
        "anna-maria",
        "Anna lent Maria fifty dollars because she was _.",
        "she",
        ("Anna", "Maria"),
        ("generous", "broke"),
    ),
    *_twins(
        "lucy-emma",
        "Lucy could not understand Emma because she was _.",
        "she",
        ("Lucy", "Emma"),
        ("deaf", "whispering"),
    ),
    *_twins(
        "julia-clara",
        "Julia brought Clara some soup whenever she was _.",
        "she",
        ("Julia", "Clara"),
        ("free", "ill"),
    ),
    *_twins(
        "princess-witch",
        "The princess hired the witch after she had been _.",
        "she",
        ("princess", "witch"),
        ("robbed", "recommended"),
    ),
    *_twins(
        "boy-father",
        "The boy hid from his father because he was _.",
        "he",
        ("boy", "father"),
        ("scared", "furious"),
    ),
    *_twins(
        "king-prisoner",
        "The king released the prisoner, since he was _.",
        "he",
        ("king", "prisoner"),
        ("merciful", "innocent"),
    ),
    *_twins(
        "peter-paul",
        "Peter beat Paul at chess, although he was a _.",
        "he",
        ("Peter", "Paul"),
        ("beginner", "champion"),
    ),
    *_twins(
        "david-simon",
        "David asked Simon for a pen, since he had _.",
        "he",
        ("David", "Simon"),
        ("none", "two"),
    ),
    *_twins(
        "waiter-gentleman",
        "The waiter apologized to the gentleman, for he had been _.",
        "he",
        ("waiter", "gentleman"),
        ("clumsy", "insulted"),
    ),
    *_twins(
        "monk-boy",
        "The monk carried the boy across the stream, although he was _.",
        "he",
        ("monk", "boy"),
        ("old", "heavy"),
    ),
    *_twins(
        "grandfather-grandson",
        "At times the grandfather envied his grandson because he was so _.",
        "he",
        ("grandfather", "grandson"),
        ("old", "young"),
    ),
    *_twins(
        "judges-dancers",
        "The judges gave the dancers first prize because they were so _.",
        "they",
        ("judges", "dancers"),
        ("impressed", "graceful"),
    ),
    *_twins(
        "farmers-crows",
        "The farmers hated the crows because every spring they _ so much seed.",
        "they",
        ("farmers", "crows"),
        ("lost", "stole"),
    ),
    *_twins(
        "soldiers-rebels",
        "The soldiers surrendered to the rebels because they were _.",
        "they",
        ("soldiers", "rebels"),
        ("losing", "winning"),
    ),
    *_twins(
        "wolves-sheep",
        "The wolves attacked the sheep at once: they were _.",
        "they",
        ("wolves", "sheep"),
        ("starving", "defenseless"),
    ),
    *_twins(
        "tourists-guides",
        "The tourists obeyed the guides without question, for they were _.",
        "they",
        ("tourists", "guides"),
        ("strangers", "experts"),
    ),
    *_twins(
        "neighbors-musicians",
        "The neighbors complained about the musicians because they _ so much noise at night.",
        "they",
        ("neighbors", "musicians"),
        ("heard", "made"),
    ),
    # without a twin: the first noun is meant ...
    PronounSentence("The balloon touched the cactus, and it burst.", "it", "balloon", "cactus", None),
    PronounSentence("The dog buried the bone and then forgot where it had been digging.", "it", "dog", "bone", None),
    PronounSentence(
        "The singer taught the girl her favorite song, and she was paid well for the lesson.",
        "she",
        "singer",
        "girl",
        None,
    ),
    PronounSentence("Rachel phoned Nina from the airport to say that she had landed.", "she", "Rachel", "Nina", None),
    PronounSentence("The sergeant yelled at the recruit until he was hoarse.", "he", "sergeant", "recruit", None),
    PronounSentence(
        "The striker tripped the goalkeeper by accident, and he apologized at once.",
        "he",
        "striker",
        "goalkeeper",
        None,
    ),
    PronounSentence(
        "The tourists photographed the monkeys until they had no film left.", "they", "tourists", "monkeys", None
    ),
    PronounSentence(
        "The surgeons operated on the twins all night, and at dawn they took off their gloves.",
        "they",
        "surgeons",
        "twins",
        None,
    ),
    # ... or the second
    PronounSentence("The hammer fell on the vase, and it shattered.", "it", "vase", "hammer", None),
    PronounSentence("The cat sat down on the box, and it collapsed.", "it", "box", "cat", None),
    PronounSentence("The mother sang to the baby until she fell asleep.", "she", "baby", "mother", None),
    PronounSentence("Sophie congratulated Laura when she won the race.", "she", "Laura", "Sophie", None),
    PronounSentence("The doctor told the patient that he would have to stop smoking.", "he", "patient", "doctor", None),
    PronounSentence(
        "The coach took the captain off the field because he had twisted his ankle.", "he", "captain", "coach", None
    ),
    PronounSentence(
        "The firefighters found the miners in a flooded shaft, where they had been trapped since Sunday.",
        "they",
        "miners",
        "firefighters",
        None,
    ),
    PronounSentence(
        "The grandparents spoiled the children so badly that they threw a tantrum over every vegetable.",
        "they",
        "children",
        "grandparents",
        None,
    ),
)

# "she" may be the artist or the musician, and readers differ: shown, never scored.
UNRESOLVED: tuple[str, ...] = ("The artist gave the musician a score because she loved her composition.",)

NEGATION_PAIRS: tuple[Negation, ...] = (
    Negation("The soup was good.", "The soup was not good.", "good", "not"),
    Negation("Our guide is patient.", "Our guide is never patient.", "patient", "never"),
    Negation(
        "The path along the cliff is safe in winter.", "The path along the cliff is not safe in winter.", "safe", "not"
    ),
    Negation("There is hope for the missing climbers.", "There is no hope for the missing climbers.", "hope", "no"),
    Negation("She was happy with the result.", "She was not happy with the result.", "happy", "not"),
    Negation("His excuses are honest.", "His excuses are never honest.", "honest", "never"),
    Negation("The lecture was very interesting.", "The lecture was not very interesting.", "interesting", "not"),
    Negation("The exam will be easy.", "The exam will not be easy.", "easy", "not"),
    Negation("They had money for the trip.", "They had no money for the trip.", "money", "no"),
    Negation(
        "I have been lonely in this little town.", "I have never been lonely in this little town.", "lonely", "never"
    ),
    Negation("Her letter contained good news.", "Her letter contained no good news.", "good", "no"),
    Negation("The children were afraid of the dark.", "The children were not afraid of the dark.", "afraid", "not"),
    Negation("That old lock is secure.", "That old lock is not secure.", "secure", "not"),
    Negation(
        "The islanders are friendly to strangers.",
        "The islanders are never friendly to strangers.",
        "friendly",
        "never",
    ),
)

# Spaced as in a treebank: the negator belongs to the first half only.
MOVIE = "The movie was not good , but the soundtrack was amazing ."

# "bank" beside water, at work with money, and beside water again: one word, one static vector.
STATIC_WORD_SENTENCES: tuple[str, ...] = (
    "The bank of the river was covered with reeds.",
    "Ducks were sleeping on the grassy bank.",
    "The bank raised its interest rates again.",
    "She opened an account at the bank.",
    "My bank charges a fee for every transfer.",
    "He sat on the bank and watched the river.",
)

# Common nouns with one main sense and nothing to do with each other: how alike are any two words?
RANDOM_WORDS: tuple[str, ...] = (
    "alphabet",
    "autumn",
    "basketball",
    "bicycle",
    "bread",
    "candle",
    "carpet",
    "clock",
    "copper",
    "democracy",
    "desert",
    "elbow",
    "emperor",
    "garden",
    "guitar",
    "hammer",
    "helmet",
    "hospital",
    "hotel",
    "ladder",
    "lawyer",
    "lemon",
    "mirror",
    "mountain",
    "newspaper",
    "oxygen",
    "pirate",
    "poem",
    "rabbit",
    "robot",
    "shirt",
    "silk",
    "thunder",
    "tobacco",
    "tooth",
    "tunnel",
    "umbrella",
    "uncle",
    "village",
    "window",
)

NEUTRAL_SENTENCES: tuple[str, ...] = (
    "The train to the coast leaves at noon.",
    "Two painters are working on the roof of the church.",
    "Rice is grown in the valley below the dam.",
    "My cousin repairs violins in a small workshop.",
    "The museum is closed on the first Monday of the month.",
    "Most penguins lay one or two eggs a year.",
    "A letter from Peru arrived this morning.",
    "Students from eleven countries took part in the contest.",
    "We boiled the potatoes and set the table.",
    "The new bridge was painted green last summer.",
    "Glass is made from sand, soda and lime.",
    "Her brother learned to swim when he was forty.",
)


def labelled_sentences() -> pandas.DataFrame:
    """The sentences of data/senses.csv: `sentence`, the ambiguous `word` in it, and the `sense` it has there.

    Every word has two senses with eight sentences each and stands once in its sentence, in lower case.
    """
    import pandas

    with (files("selfattn") / "data" / "senses.csv").open(encoding="utf-8") as table:
        return pandas.read_csv(table, dtype=str, keep_default_na=False)
