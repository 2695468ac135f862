"""A figure that shows itself: in notebooks as PNG and SVG without magic, with words for who cannot see it."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from bursar.presented import cut

_FOR_SLIDES, _FOR_NOTEBOOKS = 200, 100  # dots of an inch
_TITLES = {"svg": "Title", "png": "Title", "pdf": "Title"}
_WORDS = {"svg": "Description", "png": "Description", "pdf": "Subject"}


class Picture(Figure):
    """A matplotlib figure with a question as its title and ``alt``, what it shows in words."""

    question: str = ""
    alt: str = ""

    def savefig(self, fname: Any, **how: Any) -> None:
        """Write the picture; its words go with it, and no date, so that the same picture is the same file."""
        form = how.get("format") or str(getattr(fname, "name", fname)).rpartition(".")[2].lower()
        if form in _TITLES:
            words = {_TITLES[form]: cut(self.question, 200), _WORDS[form]: self.alt}
            if form != "png":
                words["Date" if form == "svg" else "CreationDate"] = None  # type: ignore[assignment]
            how["metadata"] = {**words, **(how.get("metadata") or {})}
        with matplotlib.rc_context({"svg.hashsalt": "bursar"}):
            super().savefig(fname, **{"dpi": _FOR_SLIDES, **how})

    def _drawn(self, form: str) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format=form, dpi=_FOR_NOTEBOOKS)
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        """The picture in a notebook."""
        return self._drawn("png")

    def _repr_svg_(self) -> str:
        """The picture in a notebook that prefers lines to dots."""
        return self._drawn("svg").decode()

    def _repr_html_(self) -> str:
        """The picture with its words."""
        data = base64.b64encode(self._repr_png_()).decode()
        return f'<img alt="{escape(self.alt)}" src="data:image/png;base64,{data}">'

    def __repr__(self) -> str:
        return f"Picture({cut(self.question, 200)!r})"

    __str__ = __repr__
