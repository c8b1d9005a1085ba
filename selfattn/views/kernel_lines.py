"""Read the source of selfattn/kernel.py, to show the code that runs."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import cache

from selfattn import kernel


def source(function: Callable) -> str:
    """Return a function's source, except its docstring and the line that calls `check_inputs`."""
    text = textwrap.dedent(inspect.getsource(function))
    docstring = ast.parse(text).body[0].body[0]
    lines = text.splitlines()
    kept = lines[: docstring.lineno - 1] + lines[docstring.end_lineno :]
    return "\n".join(line for line in kept if not line.strip().startswith("check_inputs("))


@cache
def kernel_lines() -> dict[str, str]:
    """Return the source of each assignment in `kernel.attend`, keyed by the assigned variable."""
    (attend,) = ast.parse(source(kernel.attend)).body
    return {line.targets[0].id: ast.unparse(line) for line in attend.body if isinstance(line, ast.Assign)}
