"""Find a Chromium for the browser tests, or install one; prints its path, or why there is none.

The one on the PATH; else Debian's package where root may install it; else Playwright's own. With CI=true none is a
failure; elsewhere the browser tests are skipped and the summary says why.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def on_path() -> str | None:
    """The path of an installed browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def playwrights_own() -> str | None:
    """The path of the browser that Playwright downloaded, or None."""
    from playwright.sync_api import sync_playwright

    try:
        with sync_playwright() as playwright:
            path = playwright.chromium.executable_path
    except Exception:  # its driver doesn't start: a bare Debian lacks libatomic
        return None
    return path if os.path.exists(path) else None


def find() -> str | None:
    """The browser to use, installed already; or None."""
    return on_path() or playwrights_own()


def install() -> None:
    """Try Debian's package, then Playwright's own download."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "chromium", "libatomic1"], check=False, stdout=subprocess.DEVNULL
        )
    if on_path() is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


if __name__ == "__main__":
    if find() is None:
        install()
    found = find()
    print(found or "No Chromium here, and none could be installed: the browser tests will be skipped.")
    sys.exit(found is None and os.environ.get("CI") == "true")
