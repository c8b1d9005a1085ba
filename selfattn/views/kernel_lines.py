"""Read the source of selfattn/kernel.py from the running program, so that pages always show the code that runs."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import cache

from selfattn import kernel


def source(function: Callable) -> str:
    """Return a function's source text without its docstring and without the call of `check_inputs`."""
    text = textwrap.dedent(inspect.getsource(function))
    docstring = ast.parse(text).body[0].body[0]
    lines = text.splitlines()
    kept = lines[: docstring.lineno - 1] + lines[docstring.end_lineno :]
    return "\n".join(line for line in kept if not line.strip().startswith("check_inputs("))


@cache
def kernel_lines() -> dict[str, str]:
    """Return the assignments of `kernel.attend` as text without comments; the keys are the names of the assigned variables."""
    (attend,) = ast.parse(source(kernel.attend)).body
    return {line.targets[0].id: ast.unparse(line) for line in attend.body if isinstance(line, ast.Assign)}
