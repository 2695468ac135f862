"""The person filter: every person of a table has a budget of their own.

    people = PersonFilter.create(ledger, "visits", folder="visits", person="user_id", rho="1/2", secret=secret)
    rows = people.admit(table, Gaussian(sigma=50), key="q-1")

What is released from the admitted rows, with fresh noise each time, is B-zCDP for everybody, however the queries were
chosen; where all of it is Gaussian it is √(2B)-GDP. Who was admitted, how many, and what anybody has spent is as
private as the data: nothing here prints it or writes it into the ledger.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bursar.cohorts.people.charges import Participation, limit_of, participation, query_of
from bursar.cohorts.people.commit import LostRace
from bursar.cohorts.people.desk import Desk, as_asked
from bursar.cohorts.people.engines import Engine, engine_in, engine_of
from bursar.cohorts.people.keys import check_of, pads_of, secret_of
from bursar.cohorts.people.objects import folder_of
from bursar.cohorts.people.promises import promised
from bursar.cohorts.people.replays import replay_for
from bursar.cohorts.people.share import AskShare, Share, question, set_aside
from bursar.cohorts.people.statements import statement
from bursar.cohorts.people.verifying import Checked, verified
from bursar.errors import InputError, StorageFailed, described
from bursar.guarantees import Guarantee
from bursar.ledger.arguments import file_name, key_of
from bursar.ledger.budget.refusals import alike
from bursar.ledger.budget.scope import scope_name
from bursar.ledger.journal.entry import canonical
from bursar.ledger.ledger import Ledger
from bursar.ledger.verbs.open import Place, open_scope
from bursar.numerics.validate import choice, whole
from bursar.relations import ADD_REMOVE

RULES = ("skip", "halt")
_ATTEMPTS = 200
_BUSY = "others kept charging while this was being decided: retry with the same key"


class PersonFilter:
    """The people of one root of a ledger."""

    def __init__(self, ledger: Ledger, name: str, *, secret: Any, folder: Any = None) -> None:
        """Of a filter that was created before; ``folder`` says where its files are now, if they were moved."""
        self.ledger, self.name = ledger, scope_name(name)
        kept = ledger.scope(self.name).cohort
        if kept is None or kept["keeps"] != "people":
            raise InputError(f"{name} is no person filter: it is a {ledger.scope(name).kind}", argument="name")
        self._secret = secret_of(secret)
        if check_of(self._secret, self.name) != kept["check"]:
            raise InputError(
                f"this is not the secret of {name}: with another one everybody would have a new budget",
                argument="secret",
            )
        self.person, self.rule = str(kept["person"]), str(kept["rule"])
        self.folder = folder_of(str(kept["folder"]) if folder is None else file_name(folder, "folder"))
        self._desk = Desk(ledger, self.name, self.folder)

    @classmethod
    def create(
        cls,
        ledger: Ledger,
        name: str,
        *,
        folder: Any,
        person: str,
        rho: Any,
        secret: Any,
        rule: str = "skip",
        reserve: Any = None,
        unit: str = "person",
        key: str | None = None,
        by: str | None = None,
    ) -> PersonFilter:
        """A root of the ledger in which every person may spend ``rho``; ``person`` names the column of ids, ``secret``
        is what ids are hashed with. By the rule ``skip`` a query that somebody cannot bear leaves them out, and smaller
        ones may take them in again; by ``halt`` it leaves them out for good. ``reserve`` is the part of ``rho`` that is
        set aside for `exhausted_share`: admissions cannot touch it.
        """
        if not isinstance(person, str) or not person:
            raise InputError(f"person names the column of ids, not {described(person)}", argument="person")
        where, chosen = file_name(folder, "folder"), choice(rule=rule, among=RULES)
        check = check_of(secret_of(secret), scope_name(name))
        limit_of(rho)
        folder_of(where)
        place = as_asked(ledger, name, key, where)
        kept = {"keeps": "people", "folder": place, "person": person, "rule": chosen, "check": check}
        if reserve is not None:
            kept["reserve"] = set_aside(reserve, rho)
        options = {"unit": unit, "relation": ADD_REMOVE, "cohort": canonical(kept)}
        verb = open_scope(name, Place(kind="root"), "zcdp", {"rho": rho}, options)
        ledger.office.submit(ledger.request(verb, key=key, by=by))
        return cls(ledger, name, secret=secret)

    def admit(
        self,
        table: Any,
        what: Any = None,
        *,
        key: str,
        sums: str | None = None,
        norm: Any = None,
        sigma: Any = None,
        engine: str | None = None,
        by: str | None = None,
    ) -> Any:
        """The rows of those whose budget bears the query, charged durably before they are handed out: a table of the
        kind that was given. ``what`` charges whoever has a row; ``sums`` with ``norm`` and ``sigma`` charges everybody
        for their own sum, clipped to the norm, and gives one row a person.

        The same key gives the recorded people again and charges nothing. It licenses one release, not two: publish the
        output that was computed first.
        """
        query = query_of(what, sums, norm, sigma)
        chosen = key_of(key)
        if key is None:
            raise InputError("an admission needs a key of its own", argument="key")
        self.ledger.office.check()
        prepared = engine_of(table, engine, self.folder).prepare(table, self.person, query, pads_of(self._secret))
        row = self._desk.recorded(chosen, query.fields(), by)
        for attempt in range(_ATTEMPTS):
            if row is not None:
                return prepared.rows(self.folder.checked([row]))
            seen = self._desk.look()
            if isinstance(query, Participation):
                alike([seen.scope], query.release)
            seen.room(query.worst)
            place = self.folder.fresh()
            files = self.folder.checked(seen.counted())
            prepared.decide(files, seen.limit, self.rule, self.folder, place)
            row = self._desk.commit(chosen, query.fields(), by, seen.after, place, "delta", query.worst)
            if row is None:
                _pause(attempt)
        raise StorageFailed(_BUSY)

    def compact(self, *, spark: Any = None, key: str | None = None, by: str | None = None) -> None:
        """Add up what everybody was charged in one file, which stands for all before it; they are kept for their keys.
        Worth its while every ten queries or so. By DuckDB, or in a ``spark`` session.
        """
        chosen = key_of(key)
        for _ in range(_ATTEMPTS):
            seen = self._desk.look()
            place = self.folder.fresh()
            files = self.folder.checked(seen.counted())
            self._adding(spark).compact(files, self.folder, place)
            if self._desk.commit(chosen, {"compact": True}, by, seen.after, place, "snapshot", 0) is not None:
                return
        raise StorageFailed("others kept charging while this was being added up: retry")

    def verify(self, *, spark: Any = None) -> Checked:
        """Whether every file is what the journal says, every snapshot what the files before it add up to, and nobody
        was admitted beyond the largest limit there was.
        """
        return verified(self._desk, self._adding(spark))

    def replay(
        self,
        charges: Any,
        target: Any,
        *,
        rule: str | None = None,
        buckets: int | None = None,
        progress: Callable[[int, int], None] = lambda done, all: None,
        spark: Any = None,
    ) -> Path:
        """What this filter, from an empty beginning, would admit of a list of charges with the columns query (in
        order), person and charge (10⁻⁹ ρ): files with one more column, ``admitted``, below a new folder ``target``.
        Nothing is charged. ``buckets`` is into how many parts the work is cut, by itself as many as suit the list;
        ``progress`` is told how many of them are done, never rows. Of a Spark frame, or of Parquet files with a
        ``spark`` session, Spark's workers do it; they read files by themselves, which takes less than a frame.
        """
        chosen = self.rule if rule is None else choice(rule=rule, among=RULES)
        parts = None if buckets is None else whole(buckets=buckets, at_least=1, at_most=4096)
        run = replay_for(charges, spark)
        limit = self._desk.look().limit
        return run(charges, file_name(target, "target"), limit=limit, rule=chosen, buckets=parts, progress=progress)

    def exhausted_share(self, what: Any, *, sigma: Any, key: str, spark: Any = None, by: str | None = None) -> Share:
        """About what part of the people who were ever charged could not bear ``what`` any more: two counts, each with
        discrete Gaussian noise of ``sigma``. It costs everybody 1/(2·sigma²) of what ``reserve`` set aside, and is
        refused when that is used up. The same key gives the same answer.
        """
        asked = question(participation(what), sigma)
        chosen = key_of(key)
        if key is None:
            raise InputError("a question needs a key of its own", argument="key")
        if not self._desk.reserve():
            raise InputError(f"{self.name} was created without reserve=: nothing is set aside for this", argument="key")
        for attempt in range(_ATTEMPTS):
            seen = self._desk.look()
            alike([seen.scope], asked.query.release)
            counts = None
            if not self._desk.known(chosen):
                text = statement("exhausted", most=seen.limit - asked.query.worst)
                counts = asked.answered(*self._adding(spark).about(self.folder.checked(seen.counted()), text))
            try:
                verb = AskShare(self.name, asked, seen.after, counts)
                return self.ledger.office.submit(self.ledger.request(verb, key=chosen, by=by))
            except LostRace:
                _pause(attempt)
        raise StorageFailed(_BUSY)

    def promises(self) -> list[Guarantee]:
        """What holds for everybody, whatever was released so far and whatever will be: B-zCDP, and √(2B)-GDP as long as
        all of it is Gaussian. B is the largest limit there ever was.
        """
        return promised(self._desk.largest_limit(), self.ledger.entries(self.name))

    def _adding(self, spark: Any) -> Engine:
        return engine_of(None, "duckdb", self.folder) if spark is None else engine_in(spark, self.folder)

    def __repr__(self) -> str:
        return f"<PersonFilter {self.name}: {self.rule}>"


def _pause(attempt: int) -> None:
    """Let others finish who came first, longer each time, and not all at once again."""
    time.sleep(random.random() * min(0.01 * 2**attempt, 1.0))
