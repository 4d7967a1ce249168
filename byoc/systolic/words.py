"""The words of a line of assembly."""

import json
import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from workbench.core.errors import UsageError

_T = TypeVar("_T")
NAME = r'[A-Za-z_]\w*|"(?:[^"\\]|\\.)*"'
_TOKEN = re.compile(rf"\s*(->|#\d+|;.*|{NAME}|[-+]?(?:inf|\d[\w.+-]*)|[\[\]:/=])")


class Line:
    """The words of one line, taken from left to right; every failure names the line."""

    def __init__(self, number: int, line: str) -> None:
        self.line, self.at = number, 0
        self.words: list[str] = []
        rest = re.sub(r"^\s*\d+:", "", line).rstrip()
        while rest:
            if (found := _TOKEN.match(rest)) is None:
                self.fail(f"cannot read '{rest.strip()}'")
            rest = rest[found.end() :]
            if not found[1].startswith(";"):
                self.words.append(found[1])

    def fail(self, message: str) -> NoReturn:
        """Refuse the line."""
        raise UsageError(f"line {self.line}: {message}")

    def done(self) -> bool:
        """Whether no word is left."""
        return self.at == len(self.words)

    def peek(self) -> str:
        """The next word, or an empty one."""
        return "" if self.done() else self.words[self.at]

    def take(self, what: str) -> str:
        """The next word; `what` says what it should be."""
        if self.done():
            self.fail(f"expected {what} at the end")
        self.at += 1
        return self.words[self.at - 1]

    def accept(self, word: str) -> bool:
        """Take the next word if it is this one."""
        found = self.peek() == word
        self.at += found
        return found

    def expect(self, word: str) -> None:
        """Take the next word, which must be this one."""
        if (found := self.take(f"'{word}'")) != word:
            self.fail(f"expected '{word}', found '{found}'")

    def end(self) -> None:
        """Refuse words that are left."""
        if not self.done():
            self.fail(f"'{self.peek()}' is one word too many")

    def name(self) -> str:
        """Take an identifier or a quoted name."""
        word = self.take("a name")
        if re.fullmatch(NAME, word) is None:
            self.fail(f"expected a name, found '{word}'")
        return self.read(json.loads, word, "a name") if word.startswith('"') else word

    def choice(self, among: tuple[str, ...]) -> str:
        """Take one of some words."""
        word = self.take("one of " + ", ".join(among))
        if word not in among:
            self.fail(f"expected one of {', '.join(among)}, found '{word}'")
        return word

    def read(self, reader: Callable[[str], _T], word: str, what: str) -> _T:
        """A word as a value."""
        try:
            return reader(word)
        except ValueError:
            self.fail(f"expected {what}, found '{word}'")

    def integer(self) -> int:
        """Take an integer."""
        return self.read(int, self.take("an integer"), "an integer")

    def number(self) -> float:
        """Take a float."""
        return self.read(float, self.take("a number"), "a number")

    def sizes(self) -> tuple[int, ...]:
        """Take integers joined by x."""
        word = self.take("sizes such as 4x4")
        return self.read(lambda w: tuple(int(n) for n in w.split("x")), word, "sizes such as 4x4")

    def tag(self) -> int:
        """Take `#tag` if it is there, else 0."""
        return int(self.take("a tag")[1:]) if self.peek().startswith("#") else 0
