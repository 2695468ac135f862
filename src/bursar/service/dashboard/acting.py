"""Doing something: the form, then what it would do with its price, then the deed."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bursar import wire
from bursar.errors import ConsentNeeded, NotPermitted
from bursar.keys import own_key
from bursar.ledger.budget.choosing import REFERENCES
from bursar.ledger.budget.scope import Scope, names_above
from bursar.ledger.commit.request import Verb
from bursar.ledger.verbs.bring_in import bring_in
from bursar.ledger.verbs.correct import correct
from bursar.ledger.verbs.limit import limit
from bursar.ledger.verbs.open import Place, open_scope
from bursar.ledger.verbs.reserve import reserve
from bursar.ledger.verbs.spend import spend
from bursar.ledger.verbs.status import status
from bursar.ledger.views.looks import charged_by
from bursar.ledger.views.rehearsed import Rehearsed, rehearsed
from bursar.problems import Rejected
from bursar.service.core import Service
from bursar.service.dashboard.desk import Desk
from bursar.service.dashboard.forms import FORMS, LIMITS, Fields, Form
from bursar.service.endpoints import ENDPOINTS
from bursar.service.endpoints.stewarding import consent_below, past_of
from bursar.service.permissions import covers, everywhere, permit, within
from bursar.service.tokens import EVERYTHING, Token

RUN = {endpoint.verb.name: endpoint.run for endpoint in ENDPOINTS}
_STATUS = {"freeze": "frozen", "thaw": "open", "retire": "closed"}


async def form(desk: Desk, request: Request, token: Token) -> Response:
    """What a verb needs, to be filled in."""
    asked = request.query_params
    verb, name = asked.get("verb", ""), asked.get("name", "")
    chosen = _form(token, verb)
    scope = await _scope(desk.service, token, name) if name else None
    fields = [(field, asked.get(field.name, field.value)) for field in chosen.fields(scope)]
    return desk.render(
        "_act.html", token, verb=verb, form=chosen, fields=fields, scope=scope, key=own_key(), references=REFERENCES
    )


async def parent(desk: Desk, request: Request, token: Token) -> Response:
    """Below which budget a name would open."""
    name, service = request.query_params.get("scope", "").strip(), desk.service
    permit(token, "open")
    await service.meet(token, names_above(name))
    known = {scope.name for scope in await service.look(token, service.ledger.scopes)}
    above = next((one for one in names_above(name) if one in known and covers(token, service.tree, one)), None)
    root = request.query_params.get("kind") == "root"
    return desk.render("_parent.html", token, above=None if root else above, name=name)


async def confirm(desk: Desk, request: Request, token: Token) -> Response:
    """What it would do, with its price, for somebody to say yes to."""
    given = await desk.form(request)
    verb = given.get("verb", "")
    chosen, service = _form(token, verb), desk.service
    consent, warning = None, ""
    try:
        found = await _rehearsed(service, token, verb, given)
    except ConsentNeeded as needed:
        told = await consent_below(service, token, needed)
        consent, warning = needed.consent, "\n".join(line for _, line in told.lines)
        found = await _rehearsed(service, token, verb, {**given, "consent": needed.consent})
    refusal = found.refusal
    if refusal is not None and not covers(token, service.tree, refusal.scope):
        refusal = None
    changes = [one for one in found.changes if covers(token, service.tree, one.after.name) or one.before is None]
    about = changes[0].before if changes else None
    return desk.render(
        "_confirm.html",
        token,
        verb=verb,
        form=chosen,
        given={name: value for name, value in given.items() if name != "approval"},
        key=own_key(),
        changes=changes,
        refused=found.refusal is not None,
        refusal=refusal,
        would_pass=None if refusal is None else await _advice(service, token, given),
        second=verb == "limit" and about is not None and about.second_person,
        consent=consent,
        warning=warning.strip(),
        beyond=len(changes) < len(found.changes),
    )


async def do(desk: Desk, request: Request, token: Token) -> Response:
    """The deed; the page then brings itself up to date."""
    given = await desk.form(request)
    verb = given.get("verb", "")
    chosen, service = _form(token, verb), desk.service
    asked = chosen.asks(given)
    names = (
        asked.scopes if isinstance(asked, (wire.Spend, wire.Reserve)) else [given.get("root") or given.get("scope", "")]
    )
    await service.meet(token, names)
    done = await RUN[verb](service, token, asked)
    answer = desk.render("_done.html", token, verb=verb, form=chosen, given=given, done=done)
    answer.headers["HX-Trigger"] = "changed"
    return answer


def _form(token: Token, verb: str) -> Form:
    if verb not in FORMS:
        raise Rejected("not_found", "there is nothing of this name to be done")
    permit(token, verb)
    return FORMS[verb]


async def _scope(service: Service, token: Token, name: str) -> Scope:
    await service.meet(token, [name])
    within(token, service.tree, [name])
    return await service.look(token, lambda: service.ledger.scope(name))


async def _rehearsed(service: Service, token: Token, verb: str, given: Fields) -> Rehearsed:
    made = await _verb(service, token, verb, given)
    return await service.job(token, lambda: rehearsed(service.ledger.office, made, token.name))


async def _verb(service: Service, token: Token, verb: str, given: Fields) -> Verb[Any]:
    """The verb that the fields mean, on scopes that the token reaches."""
    name = given.get("scope", "")
    if verb == "open":
        return _opening(token, given)
    if verb == "correct":
        return await _correction(service, token, given)
    await _scope(service, token, name)
    if verb in ("spend", "reserve"):
        release = await service.read(token, given.get("what", ""))
        asked = FORMS[verb].asks(given)
        if verb == "spend":
            return spend(name, release, reason=asked.reason)
        return reserve(name, release, asked.ttl, asked.key, reason=asked.reason)
    if verb == "limit":
        limits = {one: given[one] for one in LIMITS if one in given}
        # whether a second person agrees is asked when it is done
        second = "a second person" if token.name != "a second person" else "another person"
        return limit(name, limits, given.get("reason", ""), second, given.get("consent"))
    if verb == "bring_in":
        return bring_in(name, await past_of(service, token, given.get("table", "")), given.get("consent"))
    return status(name, _STATUS[verb], given.get("reason", ""))


def _opening(token: Token, given: Fields) -> Verb[Any]:
    asked: wire.Open = FORMS["open"].asks(given)
    if asked.kind == "root":
        everywhere(token, "open a root")
    if token.scope != EVERYTHING and not asked.scope.startswith(f"{token.scope}/"):
        raise NotPermitted(f"with this token the name of a new scope begins with {token.scope}/")
    place = Place(None, asked.kind, None if token.scope == EVERYTHING else token.scope)
    limits = {"epsilon": asked.epsilon, "delta": asked.delta}
    options = {"unit": asked.unit, "second_person": asked.second_person}
    return open_scope(asked.scope, place, asked.currency, limits, options)


async def _correction(service: Service, token: Token, given: Fields) -> Verb[Any]:
    asked: wire.Correct = FORMS["correct"].asks(given)
    office = service.ledger.office
    await service.meet(token, [asked.root])
    within(token, service.tree, [asked.root])
    names = await service.look(token, lambda: charged_by(office, asked.root, asked.seq))
    await service.meet(token, names)
    within(token, service.tree, names)
    release = await service.read(token, asked.what)

    def made() -> Verb[Any]:
        with office.store.reading() as reader:
            return correct(reader, (asked.root, asked.seq), release, asked.reason, None, asked.consent)

    return await service.look(token, made)


async def _advice(service: Service, token: Token, given: Fields) -> str | None:
    """What would pass in place of a refused release."""
    what, name = given.get("what", ""), given.get("scope", "")
    if not what:
        return None
    quoted = await RUN["quote"](service, token, wire.Quote([name], what))
    advice: str | None = quoted["would_pass"]
    return advice
