"""`bursar cohorts`, what is done with a person filter as a whole: compact, verify, and ask how many are exhausted."""

from __future__ import annotations

from typing import Annotated

import typer

from bursar.cli.cohorts import SecretFile, app, people_of, say
from bursar.cli.completing import DEFAULT
from bursar.cli.options import Anchor, By, Json, ScopeName, Where, opened
from bursar.cli.shared import WRONG


@app.command()
def exhausted(
    name: ScopeName,
    what: Annotated[str, typer.Argument(help="A release that people may bear or not, such as 'gaussian(sigma=50)'.")],
    sigma: Annotated[str, typer.Option(help="The noise of the answer: everybody pays 1/(2σ²) of what is set aside.")],
    key: Annotated[str, typer.Option(help="The question's own key: a retry with it gives the same answer.")],
    secret_file: SecretFile,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """About how many people could not bear a release any more, with noise; paid from what --reserve set aside.

    [bold]Example[/bold]

    bursar cohorts exhausted visits 'gaussian(sigma=50)' --sigma 100 --key how-many --secret-file secret.bin
    """
    with opened(ledger, anchor, as_json) as books:
        found = people_of(books, name, secret_file).exhausted_share(what, sigma=sigma, key=key, by=by)
    facts = {"exhausted": found.exhausted, "others": found.others, "share": found.share}
    say(as_json, str(found), **facts)


@app.command()
def compact(
    name: ScopeName,
    secret_file: SecretFile,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Add up what everybody was charged in one file; worth its while every ten queries or so.

    [bold]Example[/bold]

    bursar cohorts compact visits --secret-file secret.bin
    """
    with opened(ledger, anchor, as_json) as books:
        people_of(books, name, secret_file).compact(by=by)
        say(as_json, f"{name} is compacted", name=name)


@app.command()
def verify(
    name: ScopeName,
    secret_file: SecretFile,
    ledger: Where = DEFAULT,
    anchor: Anchor = None,
    as_json: Json = False,
) -> None:
    """Compare the files of a person filter with the journal; exit code 4 if something is wrong.

    [bold]Example[/bold]

    bursar cohorts verify visits --secret-file secret.bin
    """
    with opened(ledger, anchor, as_json) as books:
        found = people_of(books, name, secret_file).verify()
    good = f"the files of {name} are what the journal says; {found.orphans} places count for nothing"
    said = good if found.ok else "\n".join(found.problems)
    say(as_json, said, ok=found.ok, problems=found.problems, orphans=found.orphans)
    if not found.ok:
        raise typer.Exit(WRONG)
