"""Numbers and text of subjects, in a readable form."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from decimal import ROUND_FLOOR, Context

from broker_tck.properties.verdict import at_most

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufffe\uffff]"
)
"""Characters that are not seen, that turn the line around, or that XML forbids; a subject may put them in a message."""
DOWN = Context(prec=2, rounding=ROUND_FLOOR)


def visible(text: str) -> str:
    """A text with every hidden character written out, so that it can be read, and stored as HTML or XML."""
    return HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def parts(text: str) -> list[str]:
    """A text in the parts between which a name may be broken: dots, colons, slashes, underscores."""
    return re.split(r"(?<=[.:/_])(?=\w)", visible(text))


def clipped(text: str, most: int) -> str:
    """A text, or its beginning and how much is left out."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def short(count: float) -> str:
    """A large number in three digits: 12.3 million."""
    for size, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if count >= size * 0.9995:
            return f"{rounded(count / size)} {name}"
    return f"{count:,.0f}"


def rounded(value: float, digits: int = 3) -> str:
    """A number with ``digits`` significant digits, without an exponent."""
    if value == 0:
        return "0"
    value = float(f"{value:.{digits - 1}e}")
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{places}f}"


def share(part: float) -> str:
    """A share in per cent. A small share is not rounded to 0 %, nor a large one to 100 %."""
    if 0 < part < 0.0005:
        return "< 0.1 %"
    if 0.995 <= part < 1:
        return "> 99 %"
    return f"{part * 100:.1f} %" if 0 < part < 0.0995 else f"{part * 100:.0f} %"


def duration(milliseconds: float) -> str:
    """A duration in at most two units."""
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{rounded(seconds, 2)} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    days, hours = divmod(round(seconds / 3600), 24)
    return f"{days} d {hours} h"


def one_in(bound: float) -> str:
    """A bound as "1 in N", or in per cent if it is large; never rounded down."""
    if bound > 0.1:
        return f"{at_most(bound * 100)} %"
    return f"1 in {DOWN.create_decimal(repr(1 / bound)):,f}"


def moment(iso: str) -> str:
    """A time of the manifest, to the minute; a text that is no time is not changed."""
    try:
        at = datetime.fromisoformat(iso).astimezone(UTC)
    except ValueError:
        return visible(iso)
    return f"{at:%Y-%m-%d %H:%M} UTC"


def listed(names: list[str], most: int = 4) -> str:
    """Names in a sentence; a long list ends with the number of the other names."""
    shown = names if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
