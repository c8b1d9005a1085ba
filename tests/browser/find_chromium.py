"""Find or install a Chromium for the browser tests, and print its path.

With CI=true, the script fails if it can neither find nor install a Chromium.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def on_path() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    try:
        with sync_playwright() as playwright:
            path = playwright.chromium.executable_path
    except Exception:  # for example, libatomic is missing
        return None
    return path if os.path.exists(path) else None


def find() -> str | None:
    return on_path() or playwrights_own()


def install() -> None:
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
    print(found or "Found no Chromium and could not install one: the browser tests will be skipped.")
    sys.exit(found is None and os.environ.get("CI") == "true")
