"""The words of the referee: public names, written and printed forms, and what command line and service answer.

What differs from run to run (times, hashes, ids, secrets, folders) is replaced by its kind in angle brackets.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import logging
import os
import re
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import FunctionType
from typing import Any

import bursar as b
from bursar.errors import BursarError, refusals
from support.catalogue import EXAMPLES, GOLDEN

Answers = Iterator[tuple[str, Any]]
ASKED = json.loads(Path(__file__).with_name("asked.json").read_text(encoding="utf-8"))
"""What is asked of command line, service and parser, and which plans and prices are kept."""

ROOMS = (
    "bursar",
    "bursar.errors",
    "bursar.guarantees",
    "bursar.lecture",
    "bursar.plot",
    "bursar.theorems",
    "bursar.testing",
    "bursar.cohorts",
    "bursar.client",
    "bursar.adapters.google",
    "bursar.adapters.opendp",
    "bursar.adapters.tables",
)
RESULTS = {
    "Curve": lambda: b.profile("gaussian(sigma=1)", [1]),
    "Training": lambda: b.training(records=100, batch_size=10, epochs=1, sigma=2, delta="1e-6"),
    "Split": lambda: b.split([1, 2], epsilon=1, delta="1e-6"),
    "Counting": lambda: b.lecture.counting([1, 10], epsilon=1, delta="1e-6"),
    "Bound": lambda: b.account("laplace(scale=1)", delta=0).bound,
    "Standing": lambda: _opened().show("data"),
    "Quote": lambda: _opened().quote("data", "laplace(scale=10)"),
    "Reservation": lambda: _opened().reserve("data", "laplace(scale=10)", ttl=60),
    "Verification": lambda: _opened().verify(),
}
"""What verbs answer with, where no room exports it: its public members are those that a user reads."""


def names() -> Answers:
    """Every public name with its signature, and every public member of a class, in the rooms that load without PyTorch
    and JAX.
    """
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in sorted(getattr(module, "__all__", None) or _defined(module)):
            yield f"{room}.{name}", _shape(getattr(module, name))
    for name, made in RESULTS.items():
        yield f"answers: {name}", _shape(type(made()))


def _defined(module: Any) -> list[str]:
    """The public classes and functions that are used from a module which has no list of them."""
    own = {name: value for name, value in vars(module).items() if isinstance(value, type | FunctionType)}
    return [name for name, value in own.items() if not name.startswith("_") and value.__module__.startswith("bursar")]


def _shape(value: Any) -> Any:
    if isinstance(value, type):
        bases = [base.__name__ for base in value.__bases__ if base is not object]
        members = {
            name: _signature(inspect.getattr_static(value, name))
            for name in sorted(dir(value))
            if not name.startswith("_") and not hasattr(object, name) and not hasattr(BaseException, name)
        }
        return {"bases": bases, "called": _signature(value), "members": members}
    return _signature(value) if callable(value) else type(value).__name__


def _signature(value: Any) -> str:
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if not callable(value):
        return "field"
    try:
        text = str(inspect.signature(value)).replace("'", "")
        return re.sub(r"<[^<>]*(?:<lambda>)?[^<>]* at \w+>|<factory>", "<default>", text)
    except ValueError:
        return "called without a signature"


def _opened() -> b.Ledger:
    """A ledger in memory with a scope in which something was spent."""
    ledger = b.Ledger("memory://", alert=None)
    ledger.open("data", epsilon="1", delta="1e-6")
    ledger.spend("data", "gaussian(sigma=50)", key="one")
    return ledger


def forms() -> Answers:
    """Text, JSON and printed forms of the whole catalogue, and what bad texts are told."""
    for mechanism in EXAMPLES:
        yield f"mechanism: {mechanism}", {**_forms_of(mechanism * 2), "repr of one": repr(mechanism)}
    for line in GOLDEN:
        text = line.split(" | ")[0]
        yield f"text: {text}", _forms_of(b.parse(text))
    for text in ASKED["bad texts"]:
        yield f"bad text: {text}", _problem_of(lambda text=text: b.parse(text))
    for name, made in RESULTS.items():
        value = made()
        yield f"printed: {name}", {"str": _steady(str(value)), "repr": _steady(repr(value))}
    report = b.account("gaussian(sigma=20)*10 + laplace(scale=100)", delta="1e-6")
    yield "printed: Report", {"str": str(report).splitlines(), "explain": report.explain().splitlines()}


def _forms_of(composition: b.Composition) -> dict[str, Any]:
    return {
        "text": str(composition),
        "json": b.to_json(composition),
        "repr": repr(composition),
        "comes back": b.parse(str(composition)) == composition == b.from_json(json.dumps(b.to_json(composition))),
    }


def _problem_of(action: Any) -> str:
    try:
        action()
    except BursarError as problem:
        return f"{type(problem).__name__}: {problem}"
    return "was accepted"


def commands() -> Answers:
    """Help and options of every command; then a session, one command after another in one folder, as people read it,
    and in another folder with --json: exit codes and what is printed.
    """
    import shlex

    from typer.main import get_command
    from typer.testing import CliRunner

    from bursar.cli.main import app

    yield from _helps(get_command(app), "bursar")
    for more in ([], ["--json"]):
        with _empty_folder() as folder:
            (folder / "old.csv").write_text("what,count\nlaplace(scale=400),2\n", encoding="utf-8")
            run = CliRunner(env={"COLUMNS": "120", "TERM": "dumb", "NO_COLOR": "1", "BURSAR_ACTOR": "somebody"})
            last = ""
            for number, line in enumerate(ASKED["session"]):
                words = [last if word == "<id>" else word for word in shlex.split(line)]
                done = run.invoke(app, [*words, *more])
                if line.startswith(("ledger reserve", "token list")):  # the commands after it name what it made
                    last = re.findall(r"\b(?:[0-9a-f]{32}|[0-9a-f]{12})\b", done.stdout)[0]
                said = {"exit": done.exit_code, "out": _lines(done.stdout), "err": _lines(done.stderr)}
                yield " ".join([f"{number}: bursar", line, *more]), said


def _helps(command: Any, path: str) -> Answers:
    below = getattr(command, "commands", {})
    options = {
        "/".join([*one.opts, *one.secondary_opts]): {
            "help": getattr(one, "help", None),
            "needed": one.required,
            "default": str(one.default),
        }
        for one in command.params
    }
    yield f"help: {path}", {"help": _lines(command.help or ""), "hidden": command.hidden, "options": options}
    for name, one in below.items():
        yield from _helps(one, f"{path} {name}")


@contextlib.contextmanager
def _empty_folder() -> Iterator[Path]:
    """A new folder to be in, with no settings from outside, where it is the time of Greenwich."""
    ours = [name for name in os.environ if name.startswith("BURSAR_") or name == "TZ"]
    before, outside = Path.cwd(), {name: os.environ.pop(name) for name in ours}
    os.environ["TZ"] = "UTC"
    time.tzset()
    with tempfile.TemporaryDirectory(prefix="kept") as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)
            del os.environ["TZ"]
            os.environ.update(outside)
            time.tzset()


def service() -> Answers:
    """The description of every endpoint, an answer of each verb, and a problem of each kind."""
    from bursar.ledger.ledger import Ledger
    from bursar.problems import OTHERS, Rejected, told
    from bursar.service.endpoints import ENDPOINTS
    from bursar.service.openapi import document
    from bursar.wire import VERBS
    from support.offices import open_office

    logging.getLogger("bursar").setLevel(logging.CRITICAL)
    described = document(ENDPOINTS)
    for path, operations in described["paths"].items():
        yield f"endpoint: {path}", operations
    for name, schema in described["components"]["schemas"].items():
        yield f"schema: {name}", schema
    paths = {(verb.method, verb.name): verb.path for verb in VERBS}
    held = ""
    with open_office(Ledger("memory://", alert=None)) as office:
        for number, (method, name, body) in enumerate(ASKED["requests"]):
            asked = {**body, "reservation": held} if isinstance(body, dict) and "reservation" in body else body
            found = office.ask(method, paths.get((method, name), f"/v1/{name}"), asked)
            if name == "reserve":
                held = found.json()["id"]
            answer = _answer(found)
            if name == "token_list":  # they are listed by their ids, which are random
                answer["tokens"].sort(key=lambda token: token["name"])
            said = {"status": found.status_code, "kind": found.headers["content-type"], "answer": answer}
            yield f"{number}: {method} {name} {json.dumps(body)}", said
    for code, kind in refusals().items():
        yield f"problem: {code}", _problem(told(_made(kind)))
    for code in OTHERS:
        yield f"problem: {code}", _problem(told(Rejected(code, "as it was said")))


def _made(kind: type[BursarError]) -> BursarError:
    """A refusal of this kind."""
    numbers = {name: Fraction(number, 10) for number, name in enumerate(("held", "left", "spent", "asked", "limit"))}
    more: dict[str, Any] = {
        "insufficient_budget": {"scope": "data", "line": "epsilon", "numbers": numbers, "replayed": False},
        "rate_limited": {"after": 1.5},
        "consent_needed": {"consent": "c0ffee"},
    }
    return kind("as it was said", **more.get(kind.code, {}))  # type: ignore[attr-defined]


def _problem(found: Any) -> Any:
    import msgspec

    return msgspec.to_builtins(found)


def _answer(found: Any) -> Any:
    kind = found.headers["content-type"].partition(";")[0]
    spoken = kind in ("application/json", "application/problem+json")
    return _steady_json(found.json()) if spoken else _lines(found.text)


VARYING = (
    (r"\bkept[a-z0-9_]{8}\b", "<folder>"),
    (r"bursar_[\w-]{16,}", "<secret>"),
    (r"\b(?=[0-9]*[a-f])[0-9a-f]{24,64}\b", "<hash>"),
    (r"\bauto-[0-9a-f-]+", "<key>"),
    (r"\b[0-9a-f]{12}\b", "<id>"),
    (r"(?<=\"(?:created|expires)\": )\d{10}\b", "<seconds>"),
    (r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?( ?UTC|Z|\+00:00)?", "<time>"),
    (r"\b20\d\d-\d\d-\d\d\b", "<day>"),
    (r"\b1[789]\d{14}\b", "<microseconds>"),
)


def _steady(text: str) -> str:
    """Without what differs from run to run; numbers have ten digits, for the last ones depend on the processor."""
    text = re.sub(r"\b\d+\.\d{11,}(e-?\d+)?\b", lambda found: f"{float(found[0]):.10g}", text)
    for pattern, kind in VARYING:
        text = re.sub(pattern, kind, text)
    return text


def _steady_json(value: Any) -> Any:
    if isinstance(value, dict):
        varying = {"id": "<id>", "created": "<seconds>", "expires": "<seconds>"}
        return {name: varying.get(name) or _steady_json(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_steady_json(part) for part in value]
    if isinstance(value, int) and 10**15 < value < 2 * 10**15:
        return "<microseconds>"
    if isinstance(value, float):
        return float(f"{value:.10g}")
    return _steady(value) if isinstance(value, str) else value


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in _steady(text).splitlines()]
