"""Test pronouns, negation and many heads on the visitor's encoder, compared with luck and simple baselines."""

from pages.learn.pronouns_and_negation import many_heads, negation, pronouns
from selfattn.dashboard import session, teaching
from selfattn.dashboard.encoder_picker import current_encoder, show_encoder
from selfattn.dashboard.figures import heading
from selfattn.dashboard.pickers import segmented

VIEWS = {"pronouns": pronouns, "negation": negation, "heads": many_heads}

heading("Pronouns and negation")
teaching.prose(
    'Which word does "it" attend to? Does "good" attend to "not"? Famous examples make it look easy. Here we test '
    "all heads on many sentences, and compare them with luck and with position alone."
)
teaching.explain("encoder", "token", "weight", "head", "layer")
encoder = current_encoder()
show_encoder(encoder)
labels = {"pronouns": "Pronouns", "negation": "Negation", "heads": "Many heads"}
view = segmented("View", labels, key=session.VIEW, label_visibility="collapsed")
VIEWS[view].show(encoder)
if teaching.answered({"heads": "many-heads"}.get(view, view)):
    teaching.take(
        "A head that attends where we expect is only a hint. Test the head on sentences that didn't choose it, and compare it "
        "with luck and distance."
    )
