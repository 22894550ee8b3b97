"""What is refused before parsing: questions so long or so deeply nested that reading them could exhaust a stack.

One pass over the tokens bounds how deep a recursive parser can be led: an open bracket or CASE is one level, and so is
each prefix operator that waits for its operand, until AND, OR, a comma or a keyword of a clause closes it.
"""

from __future__ import annotations

import difflib
from typing import Final

from sqlglot import Token, TokenType, tokenize
from sqlglot.errors import TokenError

from quincunx.errors import QueryError, RefusalError, kind_of
from quincunx.table.sql.place import Text

LENGTH: Final = 20_000
TOKENS: Final = 4_000
NESTING: Final = 20

_OPEN: Final = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSE: Final = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_SEPARATORS: Final = {
    TokenType.AND,
    TokenType.OR,
    TokenType.COMMA,
    TokenType.WHEN,
    TokenType.THEN,
    TokenType.ELSE,
    TokenType.FROM,
    TokenType.WHERE,
    TokenType.HAVING,
    TokenType.GROUP_BY,
    TokenType.ORDER_BY,
}
_SIGNS: Final = {TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
# After these a sign stands between two operands, not before one.
_OPERANDS: Final = {
    TokenType.VAR,
    TokenType.IDENTIFIER,
    TokenType.NUMBER,
    TokenType.STRING,
    TokenType.R_PAREN,
    TokenType.R_BRACKET,
    TokenType.END,
    TokenType.NULL,
    TokenType.TRUE,
    TokenType.FALSE,
}
# A NOT beside these belongs to an operator: IS NOT NULL, NOT IN, NOT LIKE, NOT BETWEEN.
_NEGATED: Final = {TokenType.IN, TokenType.LIKE, TokenType.ILIKE, TokenType.BETWEEN}
# The words with which a question may begin.
_BEGINNINGS: Final = {TokenType.SELECT, TokenType.WITH, TokenType.FROM}
_WORDS: Final = ("SELECT", "WITH", "FROM")


def split(sql: str) -> Text:
    """The question with its tokens, or an error where it is too long, too deep, or not one SELECT."""
    if not isinstance(sql, str):
        raise QueryError("a question is a text", got=kind_of(sql))
    if len(sql) > LENGTH:
        hint = "Declare the keys of a column instead of listing them, or ask several questions."
        raise RefusalError(f"a question has at most {LENGTH:,} characters", got=f"{len(sql):,}", hint=hint)
    if "\x00" in sql or not _encodes(sql):
        raise QueryError("the question contains a character that is no text")
    try:
        tokens = tokenize(sql, dialect="duckdb")
    except TokenError:
        hint = "Look for a quotation mark or a comment that is not closed."
        raise QueryError("the question cannot be divided into words", hint=hint) from None
    text = Text(sql=sql, tokens=tuple(tokens))
    if len(tokens) > TOKENS:
        hint = "Declare the keys of a column instead of listing them, or ask several questions."
        raise RefusalError(f"a question has at most {TOKENS:,} words and signs", got=f"{len(tokens):,}", hint=hint)
    _check_nesting(text)
    _check_one_select(text)
    return text


def _encodes(sql: str) -> bool:
    try:
        sql.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _check_nesting(text: Text) -> None:
    waiting = [0]
    depth = 0
    previous: Token | None = None
    for token, following in zip(text.tokens, (*text.tokens[1:], None), strict=False):
        if token.token_type in _OPEN:
            waiting.append(0)
            depth += 1
        elif token.token_type in _CLOSE and len(waiting) > 1:
            depth -= 1 + waiting.pop()
        elif token.token_type in _SEPARATORS:
            depth -= waiting[-1]
            waiting[-1] = 0
        elif _is_prefix(previous, token, following):
            waiting[-1] += 1
            depth += 1
        if depth > NESTING:
            hint = "Name inner parts in WITH, or ask a smaller question."
            raise text.refusal_at(token, f"a question is nested at most {NESTING} deep", hint=hint)
        previous = token


def _is_prefix(previous: Token | None, token: Token, following: Token | None) -> bool:
    if token.token_type == TokenType.NOT:
        beside_is = previous is not None and previous.token_type == TokenType.IS
        return not beside_is and not (following is not None and following.token_type in _NEGATED)
    return token.token_type in _SIGNS and (previous is None or previous.token_type not in _OPERANDS)


def _check_one_select(text: Text) -> None:
    if not text.tokens:
        raise QueryError("the question is empty", hint="Write SELECT … FROM ….")
    first = text.tokens[0]
    if first.token_type == TokenType.VAR and difflib.get_close_matches(first.text.upper(), _WORDS, n=1, cutoff=0.7):
        (close,) = difflib.get_close_matches(first.text.upper(), _WORDS, n=1, cutoff=0.7)
        wrong = QueryError("a question begins with SELECT", got=repr(first.text), hint=f"Did you mean {close}?")
        raise wrong.at(text.sql, first.start, first.end + 1)
    if first.token_type not in _BEGINNINGS:
        hint = "Write one SELECT; data and settings cannot be changed from a question."
        raise text.refusal_at(first, "a question is one SELECT", hint=hint)
    ends = [i for i, token in enumerate(text.tokens) if token.token_type == TokenType.SEMICOLON]
    further = [i for i in ends if any(token.token_type != TokenType.SEMICOLON for token in text.tokens[i:])]
    if further:
        place = next(token for token in text.tokens[further[0] :] if token.token_type != TokenType.SEMICOLON)
        raise text.refusal_at(place, "a question is one statement", hint="Ask them one after the other.")
