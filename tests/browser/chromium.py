"""Finds Chromium for the browser tests. `python tests/browser/chromium.py` brings one if there is none.

It looks at $CHROMIUM, the path, and playwright's own cache; then it tries to install: playwright's build first (no rights
needed), Debian's package next (as root).
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ADVICE = (
    "The browser tests need Chromium, and it could not be brought here. Install it (Debian: apt-get install chromium) or "
    "name it in CHROMIUM=/path/to/chromium; JITSCOPE_SKIP_BROWSER=1 leaves the browser tests out."
)
_WAIT = ("--option", "DPkg::Lock::Timeout=300")  # seconds, for whoever installs something else at the time


def find() -> str | None:
    """The executable of a Chromium that starts, or None."""
    return next(filter(_starts, _candidates()), None)


def bring() -> str | None:
    """The same, after installing one where there was none."""
    found = find()
    for install in (_install_playwrights, _install_debians):
        found = found or (install() and find()) or None
    return found


def _candidates() -> Iterator[str]:
    named = os.environ.get("CHROMIUM")
    if named:
        yield named  # and nothing else: who names one means it
        return
    yield from filter(None, map(shutil.which, NAMES))
    if sys.platform == "darwin":
        yield "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.executable_path


def _starts(executable: str) -> bool:
    if not Path(executable).is_file():
        return False
    try:
        return subprocess.run([executable, "--version"], capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _install_playwrights() -> bool:
    print("Chromium is missing: trying playwright's build …", file=sys.stderr)
    return _run(sys.executable, "-m", "playwright", "install", "chromium")


def _install_debians() -> bool:
    if not (shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0):
        return False
    print("That did not succeed: trying Debian's package …", file=sys.stderr)
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    update = _run("apt-get", "-qq", *_WAIT, "update")
    return update and _run(
        "apt-get", "-qq", *_WAIT, "install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu"
    )


def _run(*command: str) -> bool:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"  {error}", file=sys.stderr)
        return False
    if done.returncode:
        print("  " + "\n  ".join(done.stderr.strip().splitlines()[-3:]), file=sys.stderr)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(None if bring() else ADVICE)
