"""The pages and the fragments that htmx puts into them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bursar.errors import NotPermitted
from bursar.problems import Rejected, told
from bursar.service.asking import begin
from bursar.service.core import Service
from bursar.service.dashboard import acting, asking, blocks, book, budgets, keeping
from bursar.service.dashboard.desk import HEADERS, HERE, Desk, page
from bursar.service.dashboard.sessions import COOKIE, same_site
from bursar.service.reach import hushed
from bursar.service.tokens import Token

Page = Callable[[Desk, Request, Token], Awaitable[Response]]
_SAYS = {
    "not_found": "There is no page at this address. It may have been typed wrong, or moved.",
    "method_not_allowed": "This address is asked in another way.",
    "failed": "This is a fault of the service, not yours. It has been written down; try again in a moment.",
}

PAGES: tuple[tuple[str, str, Page], ...] = (
    ("GET", "/", budgets.overview),
    ("GET", "/budgets", budgets.listing),
    ("GET", "/scope", book.scope_page),
    ("GET", "/scope/releases", book.releases),
    ("GET", "/scope/statement", book.statement),
    ("GET", "/blocks", blocks.blocks_page),
    ("POST", "/scope/fits", asking.fits),
    ("GET", "/act", acting.form),
    ("GET", "/act/parent", acting.parent),
    ("POST", "/act/confirm", acting.confirm),
    ("POST", "/act/do", acting.do),
    ("GET", "/what-if", asking.what_if),
    ("POST", "/what-if/account", asking.account),
    ("POST", "/what-if/plan", asking.plan),
    ("GET", "/verify", keeping.verify_page),
    ("POST", "/verify", keeping.verify),
    ("GET", "/verify/journal", keeping.journal),
    ("GET", "/audit", keeping.verify_page),  # the old names
    ("POST", "/audit/verify", keeping.verify),
    ("GET", "/audit/journal", keeping.journal),
    ("GET", "/tokens", keeping.tokens),
    ("POST", "/tokens", keeping.issue),
    ("POST", "/tokens/revoke", keeping.revoke),
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
                return _to_sign_in(request, fragment)
            found = told(hushed(desk.service.tree, token, error))
            template = "_problem.html" if fragment else "problem.html"
            # htmx shows only answers that went well
            answer = desk.render(template, token, 200 if fragment else found.status, problem=found, says=None)
            if run in (acting.confirm, acting.do):  # the form stays, and its key: what is in doubt is retried with it
                answer.headers["HX-Retarget"] = "#trouble"
            return answer

    return handle


def _to_sign_in(request: Request, fragment: bool) -> Response:
    """To the sign-in, and back to the page afterwards."""
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    back = "" if fragment or request.method != "GET" or here == "/" else f"?next={quote(here, safe='')}"
    ended = "&ended=yes" if back else "?ended=yes"
    place = f"/sign-in{back}{ended if COOKIE in request.cookies else ''}"
    headers = {**HEADERS, "HX-Redirect": place} if fragment else {"Location": place, **HEADERS}
    return Response(status_code=200 if fragment else 303, headers=headers)


def _back(address: str) -> str:
    """A page of this site, wherever the address came from."""
    inside = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if inside and "\\" not in address else "/"


def lost(request: Request, code: str, status: int) -> Response:
    """A page for people who asked for something that is not there, or that failed."""
    problem = told(Rejected(code, request.url.path))
    return page("problem.html", status, problem=problem, says=_SAYS.get(code))


def routes(service: Service) -> list[BaseRoute]:
    """All pages, the sign-in, and the files."""
    desk = Desk(service)

    async def sign_in(request: Request) -> Response:
        back, ended = _back(request.query_params.get("next", "/")), "ended" in request.query_params
        if request.method == "GET":
            return desk.render("sign_in.html", None, problem=None, back=back, ended=ended)
        try:
            form = await desk.form(request)
            back = _back(form.get("next", "/"))
            answer: Response = RedirectResponse(back, 303, HEADERS)
            desk.sessions.begin(request, form.get("token", ""), answer)
        except Exception as error:
            found = told(error)
            return desk.render("sign_in.html", None, found.status, problem=found, back=back, ended=False)
        return answer

    async def sign_out(request: Request) -> Response:
        try:
            same_site(request)
        except NotPermitted as error:
            found = told(error)
            return desk.render("problem.html", None, found.status, problem=found, says=None)
        answer = RedirectResponse("/sign-in", 303, HEADERS)
        desk.sessions.end(request, answer)
        return answer

    return [
        *(Route(path, _signed_in(desk, run), methods=[method]) for method, path, run in PAGES),
        Route("/sign-in", sign_in, methods=["GET", "POST"]),
        Route("/sign-out", sign_out, methods=["POST"]),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
