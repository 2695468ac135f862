"""Tables that people bring: what they say is what is charged, or they are refused by line and column."""

from __future__ import annotations

from fractions import Fraction

import pytest

import bursar as b
from bursar.ledger.ledger import Ledger
from bursar.tables import read_table

LAPLACE = "laplace(scale=100)"


def charged(table: str) -> Fraction:
    """What a table costs on a fresh scope."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.bring_in("data", table)
        return ledger.show("data").line("epsilon").spent


@pytest.mark.parametrize(
    "table",
    [
        f"what,count\n{LAPLACE},10\n",
        f"what, count\n{LAPLACE}, 10\n",
        f" what ,count \r\n {LAPLACE} , 10 \r\n\r\n",
        f"count;what\n10;{LAPLACE}\n",
        f'\ufeff"what","count"\n"{LAPLACE}","10"\n',
        f'what,count\n"{LAPLACE}",4\n{LAPLACE},6',
        f"what,count,delta\n{LAPLACE},10,\n",
        "what\n" + f"{LAPLACE}\n" * 10,
        f"what,count\n{LAPLACE},\n" + f"{LAPLACE},9\n",
    ],
)
def test_counts_are_counted(table: str) -> None:
    """Blanks around names and cells, semicolons, a byte order mark, quotes and empty lines change nothing."""
    assert charged(table) == Fraction(1, 10)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (f"what,Count\n{LAPLACE},10\n", "line 1, column 2: there is no column 'Count' here: write 'count'"),
        (f"what,co unt\n{LAPLACE},10\n", "line 1, column 2"),
        (f"what\n{LAPLACE},10\n", "line 2, column 2: there are 2 cells where 1 columns are named"),
        (f"what,count\n{LAPLACE}\n", "line 2, column 2: there are 1 cells where 2 columns are named"),
        (f"what,count,count\n{LAPLACE},1,10\n", "line 1, column 3: 'count' is named twice"),
        (f"what,count\n{LAPLACE},1,000\n", "line 2, column 3"),
        (f'what,count\n{LAPLACE},"1,000"\n', "line 2, column 2 (count): a whole number is wanted, not '1,000'"),
        (f"what,count\n{LAPLACE},1_0\n", "line 2, column 2 (count)"),
        (f"what,count\n{LAPLACE},١٠\n", "line 2, column 2 (count)"),
        (f"what,count\n{LAPLACE},-1\n", "line 2, column 2 (count)"),
        (f"what,count\n{LAPLACE},0\n", "line 2"),
        (f"what,count\n{LAPLACE},10.0\n", "line 2, column 2 (count)"),
        (f"what,epsilon\n{LAPLACE},1\n", "the columns are what, count, delta"),
        (f"what,\n{LAPLACE},1\n", "line 1, column 2"),
        (f"count\n{LAPLACE}\n", "one of the columns must be 'what'"),
        (f"what;count\n{LAPLACE},10\n", "line 2, column 2"),
        ("what,count\nlaplace(scale=-1),10\n", "line 2, column 1 (what)"),
        (f"what,delta\n{LAPLACE},2\n", "line 2, column 2 (delta)"),
        (f'what,count\n{LAPLACE},1\n"{LAPLACE},1\n', "line 3"),
        (f"what,count\n{LAPLACE},1\0\n", "line 2"),
        ("", "the first line must name the columns"),
        ("\n", "one of the columns must be 'what'"),
        ("what,count\n", "nothing to import"),
    ],
)
def test_what_cannot_be_meant_is_refused(table: str, said: str) -> None:
    """By line and column; nothing is charged."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        with pytest.raises(b.InputError) as refusal:
            ledger.bring_in("data", table)
        assert said in str(refusal.value)
        assert ledger.last("data") == 1


@pytest.mark.parametrize("given", [None, b"what", 7])
def test_what_is_no_text_is_refused(given: object) -> None:
    """By its kind."""
    with pytest.raises(b.InputError, match="CSV"):
        read_table(given, "what")
