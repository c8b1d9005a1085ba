"""Record what the pages show: `python -m tests.as_shown [NAME ...]`."""

import logging
import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from tests.as_shown import pages, record

logging.disable()
for name in sys.argv[1:] or pages.RECORDS:
    pages.forget()
    record.write(name, pages.RECORDS[name]())
    print(name)
