"""`python -m tests.as_shown [NAME ...]`: keep what these pages show and these functions compute now, or all."""

import logging
import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from tests.as_shown import library, pages, record

logging.disable()
records = pages.RECORDS | library.RECORDS
for name in sys.argv[1:] or records:
    pages.forget()
    record.write(name, records[name]())
    print(name)
