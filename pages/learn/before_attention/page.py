"""Before attention: a word's one static vector, and how a recurrent net passed words along; one part at a time."""

from pages.learn.before_attention import one_word, recurrence
from selfattn.dashboard import teaching
from selfattn.dashboard.figures import heading
from selfattn.dashboard.pickers import segmented

PARTS = {"word": one_word, "recurrence": recurrence}  # app.py sends their old addresses here

heading("Before attention")
labels = {"word": "One word, one vector", "recurrence": "Recurrence"}
part = PARTS[segmented("Part", labels, key="part", label_visibility="collapsed")]
part.show()
teaching.take(part.TAKE)
