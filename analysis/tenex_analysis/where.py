"""Conditions on columns, in the language of studies and of `tenex show --where` (analysis/conditions.md).

    import tenex_analysis
    study = tenex_analysis.open_study("results/quick")
    study.where("size >= 1MiB and algorithm != ring")      # pandas.DataFrame, as study.frame()

A recursive descent over tokens, one function per rule of include/tenex/spec/expression.hpp; every value is a column of
numbers or texts with its kind, and only values of one kind compare. A row that lacks a value of the condition is left
out, as `tenex show` does.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import pandas
from numpy.typing import NDArray

from .schema_1 import FORMER_NAMES

_TOKEN = re.compile(r"""\s*(?:
    (?P<quantity>\$?(?:\d[\d,]*\.?\d*|\.\d+)(?:[A-Za-zµμ][\w.]*(?:/[\w.]+)?)?)
  | (?P<word>[A-Za-z_]\w*)
  | "(?P<double>[^"]*)" | '(?P<single>[^']*)'
  | (?P<sign>==|!=|<=|>=|&&|\|\||[=<>&|()+*-])
)""", re.VERBOSE)
_KEYWORDS = {"&&": "and", "&": "and", "||": "or", "|": "or"}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge}
_DECIMAL = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZES = ({f"{prefix}B": worth for prefix, worth in _DECIMAL.items()}
          | {f"{prefix}iB": 2 ** (10 * power) for power, prefix in enumerate("KMGT", 1)})
_BITS = {f"{prefix}b{end}": worth // 8 for prefix, worth in _DECIMAL.items() if prefix for end in ("/s", "ps", "it/s")}
#: The kind of a unit and its worth: picoseconds, bytes, bytes per second, dollars.
_UNITS: dict[str, tuple[str, float]] = {
    **{name: ("a time", 1000**power) for power, name in enumerate(["ps", "ns", "us", "ms", "s"])},
    **{name: ("a size", worth) for name, worth in _SIZES.items()},
    **{f"{name}/s": ("a bandwidth", worth) for name, worth in _SIZES.items()},
    **{name: ("a bandwidth", worth) for name, worth in _BITS.items()},
    **{f"{prefix}USD": ("an amount of money", _DECIMAL[prefix]) for prefix in ("", "K", "M", "G")},
}
_KINDS = {"ps": "a time", "B": "a size", "B/s": "a bandwidth", "USD": "an amount of money"}
#: Units to propose for small numbers and for large ones, which count bytes.
_EXAMPLES = {"a time": ("us", "us"), "a size": ("MiB", "B"), "a bandwidth": ("GB/s", "B/s"),
             "an amount of money": ("USD", "USD")}
_ENDINGS = ("", "_ps", "_bytes", "_bytes_per_s", "_per_s", "_seconds", "_usd", "_setting")
_NUMBER, _TEXT = "a plain number", "a text"


class ConditionError(ValueError):
    """A condition that cannot be evaluated; the message names the part, the reason and the remedy."""


@dataclass(frozen=True)
class _Value:
    """One side of a comparison: of every row, or the same for all."""

    kind: str
    data: Any
    text: str
    is_word: bool = False  # a word that names no column


def where(rows: pandas.DataFrame, units: dict[str, str], condition: str) -> pandas.DataFrame:
    """The rows for which the condition holds, in order. `units`: of each column, as results state them ("ps", "B",
    ...). ConditionError: it cannot be evaluated.
    """
    parser = _Parser(condition, rows, units)
    held = parser.parse()
    return rows[held & parser.present]


class _Parser:
    def __init__(self, condition: str, rows: pandas.DataFrame, units: dict[str, str]) -> None:
        self.rows, self.units = rows, units
        self.present: NDArray[numpy.bool_] = numpy.ones(len(rows), dtype=bool)
        self.tokens = list(_tokens(condition))
        self.at = 0

    def parse(self) -> NDArray[numpy.bool_]:
        held = self._condition(self._or())
        if self.at < len(self.tokens):
            raise ConditionError(f'unexpected "{self.tokens[self.at][1]}" (the condition has ended before it)')
        return held

    def _peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "the end")

    def _take(self, *texts: str) -> bool:
        kind, text = self._peek()
        taken = kind in ("sign", "keyword") and text in texts
        self.at += taken
        return taken

    def _condition(self, value: Any) -> NDArray[numpy.bool_]:
        if isinstance(value, _Value):
            raise ConditionError(f'"{value.text}" is not a condition (a condition compares two things) '
                                 'write for instance "chunks = 1"')
        return value

    def _value(self, value: Any) -> _Value:
        if not isinstance(value, _Value):
            raise ConditionError("a condition stands where a value belongs")
        return value

    def _joined(self, keyword: str, rule: Callable[[], Any], join: Callable[[Any, Any], Any]) -> Any:
        whole = rule()
        while self._take(keyword):
            whole = join(self._condition(whole), self._condition(rule()))
        return whole

    def _or(self) -> Any:
        return self._joined("or", self._and, operator.or_)

    def _and(self) -> Any:
        return self._joined("and", self._not, operator.and_)

    def _not(self) -> Any:
        return ~self._condition(self._not()) if self._take("not") else self._comparison()

    def _comparison(self) -> Any:
        left = self._sum()
        held = None
        while self._peek()[0] == "sign" and self._peek()[1] in _COMPARISONS:
            sign = self._peek()[1]
            self.at += 1
            right = self._value(self._sum())
            last = not (self._peek()[0] == "sign" and self._peek()[1] in _COMPARISONS)
            one = self._compared(self._value(left), sign, right, last)
            held = one if held is None else held & one
            left = right
        return left if held is None else held

    def _compared(self, left: _Value, sign: str, right: _Value, last: bool) -> NDArray[numpy.bool_]:
        equality = sign in ("=", "==", "!=")
        if left.is_word or (right.is_word and not (equality and last and left.kind == _TEXT)):
            raise self._unknown(left.text if left.is_word else right.text)
        if left.kind != right.kind:
            help_ = ""
            if right.kind == _NUMBER and left.kind in _EXAMPLES and numpy.ndim(right.data) == 0:
                unit = _EXAMPLES[left.kind][int(right.data >= (1e6 if left.kind == "a bandwidth" else 1e3))]
                help_ = f' give "{right.text}" a unit, for instance {right.text}{unit}'
            raise ConditionError(f'"{left.text}" is {left.kind} and "{right.text}" is {right.kind} (only values of one '
                                 f"kind compare){help_}")
        if left.kind == _TEXT and not equality:
            raise ConditionError(f'"{left.text}" is a text and has no order (texts compare with = and != only)')
        held = _COMPARISONS[sign](left.data, right.data)
        return numpy.broadcast_to(numpy.asarray(held, dtype=bool), len(self.rows)).copy()

    def _sum(self) -> Any:
        left = self._product()
        while self._peek() in (("sign", "+"), ("sign", "-")):
            plus = self._take("+") or not self._take("-")
            a, b = self._value(left), self._value(self._product())
            if a.kind != b.kind or a.kind == _TEXT:
                raise ConditionError(f'"{a.text}" is {a.kind} and "{b.text}" is {b.kind} (only numbers and quantities '
                                     "of one kind are added or subtracted)")
            data = a.data + b.data if plus else a.data - b.data
            left = _Value(a.kind, data, f"{a.text} {'+' if plus else '-'} {b.text}")
        return left

    def _product(self) -> Any:
        left = self._factor()
        while self._take("*"):
            a, b = self._value(left), self._value(self._factor())
            if _TEXT in (a.kind, b.kind) or _NUMBER not in (a.kind, b.kind):
                raise ConditionError(f'"{a.text} * {b.text}" multiplies {a.kind} with {b.kind} (one of the factors is '
                                     "a plain number)")
            left = _Value(b.kind if a.kind == _NUMBER else a.kind, a.data * b.data, f"{a.text} * {b.text}")
        return left

    def _factor(self) -> Any:
        if self._take("-"):
            value = self._value(self._factor())
            return _Value(value.kind, -value.data, f"-{value.text}")
        if self._take("("):
            inner = self._or()
            if not self._take(")"):
                raise ConditionError(f'unexpected "{self._peek()[1]}" (a parenthesis is not closed before it)')
            return inner
        kind, text = self._peek()
        self.at += 1
        if kind == "quantity":
            return _quantity(text)
        if kind == "text":
            return _Value(_TEXT, text, text)
        if kind == "word":
            return self._named(text)
        raise ConditionError(f'unexpected "{text}" (a name, a number, a quantity or a text belongs here)')

    def _named(self, word: str) -> _Value:
        known = [name for name in (*(word + end for end in _ENDINGS), FORMER_NAMES.get(word, word))
                 if name in self.rows.columns]
        if not known:
            return _Value(_TEXT, word, word, is_word=True)
        series = self.rows[known[0]]
        unit = self.units.get(known[0], "")
        if isinstance(series.dtype, pandas.CategoricalDtype) or series.dtype == object:
            texts = series.astype(str).to_numpy(dtype=object)
            numbers = pandas.to_numeric(pandas.Series(texts), errors="coerce").to_numpy(dtype=float)
            self.present &= texts != ""
            if not unit or numpy.isnan(numbers[texts != ""]).any():
                return _Value(_TEXT, texts, word)
        else:
            numbers = series.to_numpy(dtype=float)
            if known[0] != "seed":
                self.present &= ~(numpy.isnan(numbers) | (numbers < 0))
        return _Value(_KINDS.get(unit, _NUMBER), numbers, word)

    def _unknown(self, word: str) -> ConditionError:
        near = difflib.get_close_matches(word, [str(name) for name in self.rows.columns], 1, 0.75)
        help_ = f'did you mean "{near[0]}"?' if near else "`tenex list columns` names them"
        return ConditionError(f'unknown name "{word}" (the result has no such column) {help_}')


def _tokens(text: str) -> Any:
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            rest = text[at:].strip()
            if rest[0] in "\"'":
                raise ConditionError(f"a quote is not closed (no {rest[0]} follows) write {rest[0]} after the text")
            raise ConditionError(f'unexpected "{rest[0]}" (a condition has comparisons (= != < <= > >=), and, or, not, '
                                 "+ - *, parentheses) put other text in quotes")
        at = found.end()
        kind = str(found.lastgroup)
        part = found[kind]
        if kind in ("double", "single"):
            yield "text", part
        elif part in _KEYWORDS or part in ("and", "or", "not"):
            yield "keyword", _KEYWORDS.get(part, part)
        elif kind == "word" and text[at : at + 1] == "(":
            raise ConditionError(f'"{part}(" has brackets and no quotes (a text that is not a plain word stands in '
                                 f"quotes) write '{part}(...)'")
        else:
            yield kind, part


def _quantity(text: str) -> _Value:
    found = re.fullmatch(r"(\$?)([\d,.]+?)((?:[A-Za-zµμ][\w.]*(?:/[\w.]+)?)?)", text)
    if found is None or found[2].count(".") > 1 or found[2][0] == "." or found[2][-1] in ".,":
        raise ConditionError(f'"{text}" is not a number (a decimal number has digits on both sides of its point)')
    unit = re.sub("^[µμ]", "u", found[3])
    if found[1]:
        unit += "USD"
    number = float(found[2].replace(",", ""))
    if not unit:
        return _Value(_NUMBER, number, text)
    if unit not in _UNITS:
        raise ConditionError(f'unknown unit "{found[3]}" in "{text}" (units are those of times (us), sizes (KB, KiB; '
                             "bytes, not bits), bandwidths (GB/s) and money (USD))")
    kind, worth = _UNITS[unit]
    return _Value(kind, number * worth, text)
