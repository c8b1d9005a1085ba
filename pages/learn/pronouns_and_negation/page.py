"""Test attention heads on pronouns and on negation, and test the claim "one head, one relation"."""

from pages.learn.pronouns_and_negation import many_heads, negation, pronouns
from selfattn.dashboard import session, teaching
from selfattn.dashboard.encoder_picker import current_encoder, show_encoder
from selfattn.dashboard.figures import heading
from selfattn.dashboard.pickers import segmented

VIEWS = {"pronouns": pronouns, "negation": negation, "heads": many_heads}

heading("Pronouns and negation")
teaching.prose(
    'Which word does "it" attend to? Does "good" attend to "not"? Famous examples suggest that one head answers such a question. '
    "Here we test all heads on many sentences. "
    "We compare the heads with guessing, and with a rule that knows only word positions."
)
teaching.explain("encoder", "token", "weight", "head", "layer")
encoder = current_encoder()
show_encoder(encoder)
labels = {"pronouns": "Pronouns", "negation": "Negation", "heads": "Many heads"}
view = segmented("View", labels, key=session.VIEW, label_visibility="collapsed")
VIEWS[view].show(encoder)
if teaching.answered({"heads": "many-heads"}.get(view, view)):
    teaching.take(
        "A head that attends where we expect is only a hint. Test the head on sentences that weren't used to choose the head. "
        "Compare the head with guessing, and with a rule that knows only the distance between the words."
    )
