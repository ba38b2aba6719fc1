"""Values of rows as text, and which of them count as missing."""

from __future__ import annotations

import datetime
import decimal
import json
import numbers
import re
from typing import Any, Mapping, Union

Value = Union[str, bytes, None]

#: The white space around values in files.
BLANKS = " \t\n\r\f"


def text_of(value: Any) -> Value:
    """A tag as text: dates and times as W3C Datetime, numbers without an exponent."""
    if value is None or isinstance(value, (str, bytes)):
        return value
    if is_missing(value):
        return None
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    kind = type(value).__name__
    if is_bool(value):
        return str(value).lower()
    if isinstance(value, datetime.datetime):
        return _time(value)
    if kind == "datetime64":
        # Seconds, without a fraction. A time in whole hours has no minutes.
        text = str(value)[:19]
        return f"{text}:00" if len(text) == len("2024-05-01T10") else text
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return _number(str(value))
    if isinstance(value, (list, tuple, Mapping)) or kind == "ndarray":
        return json_of(value)
    return str(value)


def _time(value: datetime.datetime) -> str:
    """A time in whole seconds, in UTC if it has a zone, as times of data frames are."""
    if value.tzinfo is None:
        return value.isoformat(timespec="seconds")
    try:
        value = value.astimezone(datetime.timezone.utc)
    except (OverflowError, ValueError):
        # In UTC, it is not in the years 1 to 9999.
        return value.isoformat(timespec="seconds")
    return value.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def _decimal(value: decimal.Decimal) -> str:
    """The digits of a decimal. If more than 18 follow the point, zeros at the end are left out, as with data frames."""
    whole, point, fraction = format(value, "f").partition(".")
    kept = max(len(fraction.rstrip("0")), 18)
    return whole + point + fraction[:kept]


def _number(text: str) -> str:
    """The same number without an exponent, and without a fraction if that is zero."""
    try:
        plain = format(decimal.Decimal(text), "f")
    except ArithmeticError:
        return text
    return plain[:-2] if plain.endswith(".0") else plain


def cell_of(value: Any) -> Value:
    """Values of an extension: JSON, or the text of a single one."""
    if value is None or isinstance(value, (str, bytes)):
        return value
    if is_missing(value):
        return None
    return json_of(value)


def json_of(value: Any) -> str:
    """JSON, with escapes of surrogates. By these, the extension module knows bytes that ``os.fsdecode`` has escaped."""
    text = json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"))
    return text if text.isascii() else _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_SURROGATE = re.compile("[\ud800-\udfff]")


def _plain(value: Any) -> Any:
    """A value for JSON. NumPy arrays, which pandas uses for nested columns, become lists."""
    if isinstance(value, Mapping):
        return {_name(key): _plain(item) for key, item in value.items() if not (item is None or is_missing(item))}
    if isinstance(value, (list, tuple)) or type(value).__name__ == "ndarray":
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    text = text_of(value)
    return text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text


def _name(key: Any) -> str:
    """A key of a dictionary. Surrogates belong to no known one, and are replaced so that the other keys are read."""
    name = str(key)
    return name if name.isascii() else _SURROGATE.sub("\ufffd", name)


def is_bool(value: Any) -> bool:
    """Whether a value is a truth value of Python or NumPy."""
    return type(value).__name__ in ("bool", "bool_")


def is_blank(text: Union[str, bytes]) -> bool:
    return not (text.strip(BLANKS) if isinstance(text, str) else text.strip(BLANKS.encode()))


def is_nothing(value: Any) -> bool:
    """Whether a value counts as missing: ``None``, ``NaN``, ``NaT``, ``NA``, or blank, or a list of these."""
    if isinstance(value, (list, tuple)):
        return all(not one if isinstance(one, (list, tuple)) else is_nothing(one) for one in value)
    if value is None:
        return True
    if isinstance(value, (str, bytes)):
        return is_blank(value)
    return is_missing(value) or (isinstance(value, Mapping) and not value)


def is_missing(value: Any) -> bool:
    """Whether a value is NaN, NaT of pandas or NumPy, or NA of pandas."""
    kind = type(value).__name__
    if kind in ("str", "dict", "list", "tuple", "ndarray"):
        return False
    try:
        # Only missing values differ from themselves.
        return kind == "NAType" or bool(value != value)
    except (ArithmeticError, TypeError, ValueError):
        return False
