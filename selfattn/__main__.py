"""The command `selfattn`: open the dashboard, scan a corpus, or write web pages."""

import argparse
import os
import re
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from selfattn import __version__
from selfattn.settings import Settings

DESCRIPTION = """\
selfattn [FOLDER_OR_ID] [--port N] [--address NAME]
                                      open the dashboard with your encoder or the bundled encoder
selfattn scan INPUT --output DIR      measure what the words in a table of any size attend to (selfattn scan --help)
selfattn site DIR                     write the built-in pairs of sentences as static web pages (selfattn site --help)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["scan"]:
        from selfattn.scan.__main__ import main as scan

        return scan(given[1:], prog="selfattn scan")
    if given[:1] == ["site"]:
        return _site(given[1:])
    parser = argparse.ArgumentParser(
        prog="selfattn",
        usage=argparse.SUPPRESS,
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="FOLDER_OR_ID", nargs="?", help="a folder or a Hugging Face Hub id")
    parser.add_argument("--version", action="version", version=f"selfattn {__version__}")
    parser.add_argument("--port", type=_free_port, help="the dashboard's port (default: 8501, or the next free port)")
    parser.add_argument(
        "--address", type=_host, help="this machine's name or IP address, to open the dashboard from other machines"
    )
    options = parser.parse_args(given)
    if options.model is not None:
        from selfattn import LoadError

        try:
            _check(options.model)
        except LoadError as error:
            print(f"selfattn: {error}", file=sys.stderr)
            return 2
    port = [] if options.port is None else ["--server.port", str(options.port)]
    name = options.address
    others = (
        ["--server.address", "0.0.0.0", "--server.allowedHosts", name, "--browser.serverAddress", name] if name else []
    )
    model = [] if options.model is None else ["--", "--model", options.model]
    command = [sys.executable, "-m", "streamlit", "run", str(app()), *port, *others, *model]
    # Replace this process, so that stopping the command also stops the server.
    os.execve(sys.executable, command, {"MALLOC_ARENA_MAX": "2", **os.environ})


def _free_port(text: str) -> int:
    port = int(text)
    try:
        socket.create_server(("localhost", port)).close()
    except (OSError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"port {port} is not free. Give another port from 1024 to 65535, or leave --port out."
        ) from None
    return port


def _host(text: str) -> str:
    if not re.fullmatch(r"[\w.-]+", text):
        raise argparse.ArgumentTypeError(f"expected a name or an IP address such as 192.168.1.20, got {text!r}")
    return text


def _check(model: str) -> None:
    """Raise LoadError if `model` can't be loaded."""
    from selfattn.encoders.checkpoint import check_folder
    from selfattn.encoders.sources import resolve

    found = resolve(model, report=lambda stage: print(stage, file=sys.stderr) if stage[-1:] != "%" else None)
    check_folder(found.folder, Settings.read().model_dir)


def _site(given: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="selfattn site", description="Write the built-in pairs of sentences as static web pages with an index."
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="a new or empty folder for the pages")
    parser.add_argument("--model", metavar="FOLDER_OR_ID", help="default: the bundled encoder")
    options = parser.parse_args(given)

    from selfattn import LoadError, NotRecomputable, examples, load_encoder
    from selfattn.export.site import SiteError, write_site

    try:
        write_site(
            load_encoder(options.model), examples.PAIRS, options.folder, wrote=lambda file: print(options.folder / file)
        )
    except (LoadError, NotRecomputable, SiteError, OSError) as error:
        print(f"selfattn site: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("selfattn site: stopped. The pages written so far are in the folder.", file=sys.stderr)
        return 130
    return 0


def app() -> Path:
    """Return the path of app.py."""
    above = Path(__file__).parents[1]
    return next(path for path in (above / "selfattn_app" / "app.py", above / "app.py") if path.exists())


if __name__ == "__main__":
    sys.exit(main())
