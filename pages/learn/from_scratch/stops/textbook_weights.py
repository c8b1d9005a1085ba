"""S19: the numbers that people draw, beside a real encoder's."""

from pages.learn.from_scratch.real_heads import BANK_OPTIONS, bank_looks_at, drawn_beside_encoder
from selfattn.dashboard import teaching as parts
from selfattn.dashboard.encoder_picker import current_encoder

TITLE = "Numbers people draw"
STEP = "consequences"


def show() -> None:
    parts.prose(
        "Lessons like to print attention weights: *bank* gives *deposit* .85, and so on. They are made up to make a "
        "point."
    )
    encoder = current_encoder()
    question = (
        "*Deposit the check at the bank.* Averaged over all heads of the encoder: which of these three does *bank* look at "
        "most?"
    )
    if not parts.predict("drawn-numbers", question, BANK_OPTIONS, bank_looks_at(encoder)):
        return
    parts.prose(
        "Here each set stands beside what the encoder's heads really give those words, with the head that comes "
        "nearest. Both are cut to the words that were drawn and made to sum to 1; how much of the head's weight that "
        "leaves out is said too."
    )
    drawn_beside_encoder(encoder)
