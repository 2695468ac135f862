"""Which module of a package imports which, wherever the import stands, and the circles among them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

Graph = dict[str, set[str]]


def modules(package: Path) -> dict[str, Path]:
    """Every module of a package by its dotted name."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def graph(sources: dict[str, str]) -> Graph:
    """From each module, given as its source by its dotted name, to those among them that it imports.

    Imports inside functions count, those for the type checker alone do not. That a module's packages are imported
    before it is Python's business and counts for nothing.
    """
    return {
        name: {target for target in _imported(ast.parse(source), name, set(sources)) if target != name}
        for name, source in sources.items()
    }


def _imported(tree: ast.AST, name: str, known: set[str]) -> Iterator[str]:
    for node in _executed(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            home = node.module or ""
            if node.level:
                home = ".".join([*name.split(".")[: -node.level], *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{home}.{alias.name}"
                if inner in known:
                    yield inner
                elif home in known:
                    yield home


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that only a type checker reads."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield other
                yield from _executed(other)
            continue
        yield child
        yield from _executed(child)


def circles(edges: Graph) -> list[list[str]]:
    """The strongly connected components with more than one module, by Tarjan's algorithm."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    waiting: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        waiting.append(name)
        for target in sorted(edges[name]):
            if target not in number:
                visit(target)
            if target in waiting:
                lowest[name] = min(lowest[name], lowest[target])
        if lowest[name] == number[name]:
            together = waiting[waiting.index(name) :]
            del waiting[waiting.index(name) :]
            if len(together) > 1:
                found.append(sorted(together))

    for name in sorted(edges):
        if name not in number:
            visit(name)
    return found
