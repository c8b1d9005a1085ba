"""Six views worth opening, two of them failures: what the dashboard shows, met by looking. Every claim is tested."""

from urllib.parse import urlencode

# What the library computes with the bundled encoder (tests/pages/test_gallery.py), and the view that shows it.
GALLERY = (
    ("One head makes a quarter of the difference between a river's bank and a money bank.", "",
     {"example": "bank", "head": "L5 H7"}),
    ("Here one head makes half of the difference: a ring on a finger and a ring to box in.", "",
     {"example": "ring", "head": "L5 H7"}),
    ("A head that attends to the token before, whatever it is.", "all-heads", {"head": "L0 H2"}),
    ("A head that gives nearly all its weight to [CLS] and [SEP].", "all-heads", {"head": "L4 H5"}),
    ("No head stands out: none makes a tenth of the difference between two springs.", "",
     {"example": "spring", "head": "L5 H7"}),
    ("No head stands out: what moves \"wave\" most moves it nearly as far when it comes from the same sense.", "",
     {"example": "wave", "head": "L5 H11"}),
)  # fmt: skip
LINKS = [f"- [{text}](./{page}?{urlencode({'model': 'all-MiniLM-L6-v2'} | view)})" for text, page, view in GALLERY]
