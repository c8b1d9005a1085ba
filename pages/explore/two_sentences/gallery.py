"""List six links, each with a claim about the linked page."""

from urllib.parse import urlencode

# Each link has a claim (checked by tests/pages/test_gallery.py), a page and URL parameters.
GALLERY = (
    ("Hide one word, \"river\", and \"bank\" moves nearly half the way to its other sense.", "", {"example": "bank"}),
    ("Hide \"elephant\", and \"trunk\" moves half the way from an elephant's trunk to a car's trunk.", "",
     {"example": "trunk"}),
    ("A head that attends to the previous token, whatever token it is.", "all-heads", {"head": "L0 H2"}),
    ("A head that gives nearly all its weight to [CLS] and [SEP].", "all-heads", {"head": "L4 H5"}),
    ("No single word is decisive: hide any word, and \"star\" in A moves at most 5 % of the way to its other sense.",
     "", {"example": "star"}),
    ("A failure: the encoder reads \"wave\" as a wave of the sea in both sentences.", "", {"example": "wave"}),
)  # fmt: skip
LINKS = [f"- [{text}](./{page}?{urlencode({'model': 'all-MiniLM-L6-v2'} | view)})" for text, page, view in GALLERY]
