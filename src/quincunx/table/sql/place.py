"""Where in the question something stands: the parser marks names, functions and constants; the rest is their hull."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import Token, TokenType, exp

from quincunx.errors import QueryError, RefusalError


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A question and its tokens. Makes errors that show their place."""

    sql: str
    tokens: tuple[Token, ...]

    def span(self, node: exp.Expr) -> tuple[int, int]:
        """The characters from start up to, not including, end that `node` was read from."""
        at: exp.Expr | None = node
        while at is not None:
            marks = [each.meta for each in at.walk() if "start" in each.meta]
            if marks:
                named = not isinstance(at, exp.Func) or "start" in at.meta
                return self._balanced(min(mark["start"] for mark in marks), max(mark["end"] for mark in marks), named)
            at = at.parent
        return 0, len(self.sql)

    def words(self, node: exp.Expr) -> str:
        """What was written for `node`, with single blanks."""
        start, end = self.span(node)
        return " ".join(self.sql[start:end].split())

    def refusal(
        self, node: exp.Expr, what: str, *, got: str = "", hint: str = "", words: Sequence[str] = ()
    ) -> RefusalError:
        """A refusal for privacy's sake, at a node, or at the first of `words`, which the parser does not mark."""
        for token in self.tokens:
            if token.text.upper() in words:
                return RefusalError(what, got=got, hint=hint).at(self.sql, token.start, token.end + 1)
        return RefusalError(what, got=got, hint=hint).at(self.sql, *self.span(node))

    def mistake(self, node: exp.Expr, what: str, *, got: str = "", hint: str = "") -> QueryError:
        """A mistake in the question, at a node."""
        return QueryError(what, got=got, hint=hint).at(self.sql, *self.span(node))

    def refusal_at(self, token: Token, what: str, *, hint: str = "") -> RefusalError:
        """A refusal at a token."""
        return RefusalError(what, hint=hint).at(self.sql, token.start, token.end + 1)

    def _balanced(self, start: int, end: int, named: bool) -> tuple[int, int]:
        # The hull is widened by a function's name where that has no mark, and until every bracket in it is closed.
        first = bisect_left([token.start for token in self.tokens], start)
        last = bisect_right([token.start for token in self.tokens], end) - 1
        if not named and first > 1 and self.tokens[first - 1].token_type == TokenType.L_PAREN:
            while first > 0 and self.tokens[first - 1].token_type == TokenType.L_PAREN:
                first -= 1
            first = max(first - 1, 0)
        depth = lowest = 0
        for token in self.tokens[first : last + 1]:
            depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
            lowest = min(lowest, depth)
        while lowest < 0 and first > 0:
            first -= 1
            kind = self.tokens[first].token_type
            lowest += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
            depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        while depth > 0 and last + 1 < len(self.tokens):
            last += 1
            kind = self.tokens[last].token_type
            depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        return self.tokens[first].start, self.tokens[last].end + 1
