"""The pages and the fragments that htmx puts into them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bursar import wire
from bursar.errors import InputError, NotPermitted
from bursar.keys import own_key
from bursar.problems import Rejected, told
from bursar.service.asking import begin
from bursar.service.core import Service
from bursar.service.dashboard import views
from bursar.service.dashboard.desk import HEADERS, HERE, Desk
from bursar.service.dashboard.sessions import same_site
from bursar.service.endpoints import ENDPOINTS
from bursar.service.endpoints.counting import number
from bursar.service.endpoints.looking import entries_to, shown_to
from bursar.service.permissions import covers, everywhere, permit, within
from bursar.service.reach import hushed
from bursar.service.tokens import Token

_RUN = {endpoint.verb.name: endpoint.run for endpoint in ENDPOINTS}
Page = Callable[[Desk, Request, Token], Awaitable[Response]]


async def _overview(desk: Desk, request: Request, token: Token) -> Response:
    service = desk.service
    permit(token, "scopes")
    found = await service.look(token, service.ledger.scopes)
    await service.meet(token, [scope.name for scope in found])
    scopes = [scope for scope in found if covers(token, service.tree, scope.name)]
    names = [scope.name for scope in scopes[:200]]
    shown = [views.statement(await service.show(token, name)) for name in names]
    return desk.render("scopes.html", token, scopes=shown, more=max(len(scopes) - 200, 0), halted=desk.halted)


async def _scope(desk: Desk, request: Request, token: Token) -> Response:
    service, name = desk.service, request.query_params.get("name", "")
    await service.meet(token, [name])
    within(token, service.tree, [name])
    found = await shown_to(service, token, name)
    end = await service.look(token, lambda: service.ledger.last(found.scope.row.root))
    chart = await service.look(token, lambda: views.burn_down(service.ledger, found, end))
    listed = await entries_to(service, token, name, max(0, end - 1000), 1000)
    entries = [views.entry(one) for one in reversed(listed["entries"])]
    return desk.render(
        "scope.html",
        token,
        found=views.statement(found),
        chart=chart,
        entries=entries[:200],
        key=own_key(),
        halted=desk.halted,
    )


async def _fits(desk: Desk, request: Request, token: Token) -> Response:
    form = await desk.form(request)
    permit(token, "quote")
    asked = wire.Quote([form.get("scope", "")], form.get("what", ""))
    await desk.service.meet(token, asked.scopes)
    return desk.render("_fits.html", token, quote=await _RUN["quote"](desk.service, token, asked))


async def _spend(desk: Desk, request: Request, token: Token) -> Response:
    form = await desk.form(request)
    permit(token, "spend")
    asked = wire.Spend([form.get("scope", "")], form.get("what", ""), form.get("key", ""))
    await desk.service.meet(token, asked.scopes)
    receipt = await _RUN["spend"](desk.service, token, asked)
    return desk.render("_receipt.html", token, receipt=receipt, what=form.get("what", ""), key=own_key())


async def _what_if(desk: Desk, request: Request, token: Token) -> Response:
    return desk.render("what_if.html", token)


async def _account(desk: Desk, request: Request, token: Token) -> Response:
    form = await desk.form(request)
    permit(token, "account")
    given = {"delta": number(form.get("delta", ""), "delta")}
    found = await desk.service.count(token, "account_page", form.get("composition", ""), given)
    return desk.render("_report.html", token, **found)


async def _plan(desk: Desk, request: Request, token: Token) -> Response:
    form = await desk.form(request)
    permit(token, "plan")
    given = {name: number(form.get(name, ""), name) for name in ("epsilon", "delta")}
    found = await desk.service.count(token, "plan_page", form.get("template", ""), given)
    return desk.render("_plan.html", token, **found)


async def _audit(desk: Desk, request: Request, token: Token) -> Response:
    permit(token, "verify")
    return desk.render("audit.html", token)


async def _verify(desk: Desk, request: Request, token: Token) -> Response:
    form = await desk.form(request)
    permit(token, "verify")
    asked = wire.Verify("reprice" in form)
    return desk.render("_verified.html", token, found=await _RUN["verify"](desk.service, token, asked))


async def _download(desk: Desk, request: Request, token: Token) -> Response:
    permit(token, "export")
    everywhere(token, "export the journal")
    form = request.query_params.get("form", "jsonl")
    if form not in ("jsonl", "csv"):
        raise InputError("form is jsonl or csv", argument="form")
    text = await desk.service.job(token, lambda: desk.service.ledger.export(form))
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="journal.{form}"'}
    return Response(text, headers=headers, media_type="text/plain; charset=utf-8")


_PAGES: tuple[tuple[str, str, Page], ...] = (
    ("GET", "/", _overview),
    ("GET", "/scope", _scope),
    ("POST", "/scope/fits", _fits),
    ("POST", "/scope/spend", _spend),
    ("GET", "/what-if", _what_if),
    ("POST", "/what-if/account", _account),
    ("POST", "/what-if/plan", _plan),
    ("GET", "/audit", _audit),
    ("POST", "/audit/verify", _verify),
    ("GET", "/audit/journal", _download),
)


def _signed_in(desk: Desk, run: Page) -> Callable[[Request], Awaitable[Response]]:
    """A page for whoever is signed in; problems are shown where the answer would have been."""

    async def handle(request: Request) -> Response:
        fragment, token = request.headers.get("hx-request") == "true", None
        try:
            token = desk.sessions.token(request)
            begin(request.receive)
            return await run(desk, request, token)
        except Exception as error:
            if isinstance(error, Rejected) and error.code == "unauthenticated":
                headers = {**HEADERS, "HX-Redirect": "/sign-in"} if fragment else {"Location": "/sign-in", **HEADERS}
                return Response(status_code=200 if fragment else 303, headers=headers)
            found = told(hushed(desk.service.tree, token, error))
            template = "_problem.html" if fragment else "problem.html"
            # a refusal is an outcome, so the next charge is another one; what is in doubt is retried with its key
            key = own_key() if run is _spend and found.status < 500 else None
            # htmx shows only answers that went well
            return desk.render(template, token, 200 if fragment else found.status, problem=found, key=key)

    return handle


def routes(service: Service) -> list[BaseRoute]:
    """All pages, the sign-in, and the files."""
    desk = Desk(service)

    async def sign_in(request: Request) -> Response:
        if request.method == "GET":
            return desk.render("sign_in.html", None, problem=None)
        try:
            secret = (await desk.form(request)).get("token", "")
            answer: Response = RedirectResponse("/", 303, HEADERS)
            desk.sessions.begin(request, secret, answer)
        except Exception as error:
            found = told(error)
            return desk.render("sign_in.html", None, found.status, problem=found)
        return answer

    async def sign_out(request: Request) -> Response:
        try:
            same_site(request)
        except NotPermitted as error:
            found = told(error)
            return desk.render("problem.html", None, found.status, problem=found)
        answer = RedirectResponse("/sign-in", 303, HEADERS)
        desk.sessions.end(request, answer)
        return answer

    return [
        *(Route(path, _signed_in(desk, run), methods=[method]) for method, path, run in _PAGES),
        Route("/sign-in", sign_in, methods=["GET", "POST"]),
        Route("/sign-out", sign_out, methods=["POST"]),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
