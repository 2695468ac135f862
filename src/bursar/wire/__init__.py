"""What goes over the wire: the bodies that are asked with and the answers, as types.

Numbers that cost something travel as text (``"1/3"``, ``"1e-6"``), never as JSON numbers.
"""

from msgspec.json import encode as encode

from bursar.wire.answers import Health as Health
from bursar.wire.answers import Issued as Issued
from bursar.wire.answers import Part as Part
from bursar.wire.answers import Problem as Problem
from bursar.wire.answers import Quoted as Quoted
from bursar.wire.answers import Receipt as Receipt
from bursar.wire.answers import Report as Report
from bursar.wire.answers import Reservation as Reservation
from bursar.wire.answers import Revoked as Revoked
from bursar.wire.answers import Taken as Taken
from bursar.wire.answers import TokenInfo as TokenInfo
from bursar.wire.answers import TokenList as TokenList
from bursar.wire.answers import Verification as Verification
from bursar.wire.asked import Account as Account
from bursar.wire.asked import Asked as Asked
from bursar.wire.asked import BringIn as BringIn
from bursar.wire.asked import Close as Close
from bursar.wire.asked import Correct as Correct
from bursar.wire.asked import Draw as Draw
from bursar.wire.asked import Effort as Effort
from bursar.wire.asked import Export as Export
from bursar.wire.asked import Limit as Limit
from bursar.wire.asked import NewToken as NewToken
from bursar.wire.asked import OfScope as OfScope
from bursar.wire.asked import Open as Open
from bursar.wire.asked import Page as Page
from bursar.wire.asked import Plan as Plan
from bursar.wire.asked import Quote as Quote
from bursar.wire.asked import Registry as Registry
from bursar.wire.asked import Reserve as Reserve
from bursar.wire.asked import Revoke as Revoke
from bursar.wire.asked import Spend as Spend
from bursar.wire.asked import Status as Status
from bursar.wire.asked import Verify as Verify
from bursar.wire.looked import Decimal as Decimal
from bursar.wire.looked import Effect as Effect
from bursar.wire.looked import Entries as Entries
from bursar.wire.looked import Entry as Entry
from bursar.wire.looked import Hindsight as Hindsight
from bursar.wire.looked import Interval as Interval
from bursar.wire.looked import Line as Line
from bursar.wire.looked import Odometer as Odometer
from bursar.wire.looked import Refusal as Refusal
from bursar.wire.looked import Released as Released
from bursar.wire.looked import ReleasedList as ReleasedList
from bursar.wire.looked import Scope as Scope
from bursar.wire.looked import ScopeList as ScopeList
from bursar.wire.looked import Standing as Standing
from bursar.wire.looked import Statement as Statement
from bursar.wire.verbs import VERBS as VERBS
from bursar.wire.verbs import Verb as Verb
