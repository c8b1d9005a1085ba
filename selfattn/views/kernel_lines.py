"""Read the kernel's own lines from the running program, so that they are never retyped."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import cache

from selfattn import kernel


def source(function: Callable) -> str:
    """A function's source text, without its docstring and the call that checks its input."""
    text = textwrap.dedent(inspect.getsource(function))
    docstring = ast.parse(text).body[0].body[0]
    lines = text.splitlines()
    kept = lines[: docstring.lineno - 1] + lines[docstring.end_lineno :]
    return "\n".join(line for line in kept if not line.strip().startswith("check_inputs("))


@cache
def kernel_lines() -> dict[str, str]:
    """The kernel's assignments without comments, by the name that each one sets."""
    (attend,) = ast.parse(source(kernel.attend)).body
    return {line.targets[0].id: ast.unparse(line) for line in attend.body if isinstance(line, ast.Assign)}
