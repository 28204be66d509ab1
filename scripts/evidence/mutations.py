# SPDX-License-Identifier: Apache-2.0
"""Every small fault that can be made in the trusted files, by changing one token.

A mutation is one operator swapped, one constant changed, one condition negated. Left alone are
comments, texts and what only makes them (thrown messages), includes, static_assert, the planted
faults of base/mutant.h, brackets of templates, sizes that are only reserved, and progress.
"""

import dataclasses
import hashlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import check_layers  # noqa: E402  (its list of trusted files is the only one)

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      |(?P<text>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
      |(?P<line>^[ \t]*\#(?:\\\n|[^\n])*)
      |(?P<number>0[xX][0-9a-fA-F'.]+(?:[pP][+-]?\d+)?[uUlL]*
                 |\d[\d']*(?:\.[\d']*)?(?:[eE][+-]?\d+)?[a-zA-Z]*)
      |(?P<name>[A-Za-z_]\w*)
      |(?P<symbol><=>|<<=|>>=|\.\.\.|->\*|->|::|\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=|<<|>>|<=|>=|==
                |!=|&&|\|\||\[\[|\]\]|\S)
      |(?P<space>\s+)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE)

# Between two operands, with a space before and white space after, as .clang-format has it.
BINARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
          "*": "+", "/": "*", "%": "/", "&&": "||", "||": "&&", "&": "|", "|": "&", "^": "&",
          "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "%=": "/=",
          "&=": "|=", "|=": "&=", "^=": "|=", "<<=": ">>=", ">>=": "<<="}
UNARY = {"!": "", "-": "", "~": ""}  # before an operand, without a space behind
STEPS = {"++": "--", "--": "++"}
NAMES = {"true": "false", "false": "true", "min": "max", "max": "min", "floor": "ceil",
         "ceil": "floor", "HUGE_VAL": "-HUGE_VAL", "lower_bound": "upper_bound",
         "upper_bound": "lower_bound", "all_of": "any_of", "any_of": "all_of",
         "none_of": "any_of", "break": "continue", "continue": "break"}
WORDS = {"return", "case", "co_return"}  # what an operand may follow, though it is a name


@dataclasses.dataclass(frozen=True)
class Mutation:
    """One fault: in `file` below src/tandem, `before` at `at` becomes `after`."""
    file: str
    at: int
    before: str
    after: str
    line: int  # from 1
    text: str  # of the line, without white space around it
    column: int  # of the change in that text
    nth: int  # among equal lines of the file, from 1
    times: int = 1  # how many equal lines there are

    def key(self):
        return (self.file, self.text, str(self.column), str(self.nth), self.change())

    def change(self):
        return f"{self.before} -> {self.after or '(nothing)'}"

    def folder(self):
        return self.file.split("/")[0]


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    at: int
    space_before: bool = False
    space_after: bool = False


def trusted_files():
    """Paths below src/tandem: all of privacy/, and what check_layers.py lists beside it."""
    src = ROOT / "src" / "tandem"
    files = [f"privacy/{path.name}" for path in src.glob("privacy/*")]
    for folder, names in check_layers.TRUSTED.items():
        for name in names:
            header = f"{folder}/{name}.h"
            of_it = [header, f"{folder}/{name}.cpp", *check_layers.sources_of(src, header)]
            files += [file for file in of_it if (src / file).exists()]
    return sorted({file for file in files
                   if file.endswith((".h", ".cpp")) and file not in check_layers.ASIDE})


def tokens_of(source):
    tokens = []
    spaced = True
    for match in TOKEN.finditer(source):
        kind = match.lastgroup
        if kind == "mark":  # the inner name of a raw string
            kind = "text"
        if kind in ("space", "comment"):
            spaced = True
            if tokens:
                tokens[-1].space_after = True
            continue
        tokens.append(Token(kind, match.group(), match.start(), spaced))
        spaced = False
    return tokens


def closing(tokens, i, opened="(", closed=")"):
    """Where the bracket that opens at i is closed."""
    depth = 0
    while i < len(tokens):
        if tokens[i].text == opened:
            depth += 1
        elif tokens[i].text == closed:
            depth -= 1
            if depth == 0:
                return i
        i += 1
    return len(tokens) - 1


def end_of_statement(tokens, i):
    depth = 0
    while i < len(tokens):
        text = tokens[i].text
        if text in "([{":
            depth += 1
        elif text in ")]}":
            depth -= 1
            if depth == 0 and text == "}" and not (i + 1 < len(tokens)
                                                   and tokens[i + 1].text in (";", ",", ")", ".")):
                return i
        elif text == ";" and depth == 0:
            return i
        i += 1
    return len(tokens) - 1


def left_alone(tokens):
    """Numbers of tokens that no mutation touches."""
    skip = set()
    planted = False
    for i, token in enumerate(tokens):
        if token.kind == "line":
            if "TANDEM_MUTANTS" in token.text and token.text.lstrip().startswith("#ifdef"):
                planted = True
            elif token.text.lstrip().startswith(("#else", "#endif")):
                planted = False
            skip.add(i)
        elif planted or token.kind == "text":
            skip.add(i)
        if token.kind != "name":
            continue
        following = tokens[i + 1].text if i + 1 < len(tokens) else ""
        if token.text in ("static_assert", "reserve") and following == "(":
            skip.update(range(i, closing(tokens, i + 1) + 1))
        elif token.text == "throw":
            skip.update(range(i, end_of_statement(tokens, i) + 1))
        elif token.text == "operator":
            skip.add(i + 1)
        elif token.text == "template" and following == "<":
            skip.update(range(i, closing(tokens, i + 1, "<", ">") + 1))
        elif token.text in ("progress", "progress_"):
            start = i
            while start > 0 and tokens[start - 1].text not in (";", "{", "}"):
                start -= 1
            if tokens[start].text != "for":
                skip.update(range(start, end_of_statement(tokens, i) + 1))
        elif token.text == "mutant" and following == "(":
            end = closing(tokens, i + 1)
            first = i - 1 if tokens[i - 1].text == "!" else i
            before = tokens[first - 1].text
            after = tokens[end + 1].text
            if after == "?":  # mutant(...) ? fault : truth
                depth = 0
                j = end + 1
                while not (tokens[j].text == ":" and depth == 0):
                    depth += tokens[j].text in "(["
                    depth -= tokens[j].text in ")]"
                    j += 1
                skip.update(range(i, j + 1))
            elif before in ("||", "&&") and first != i or before == "||":
                skip.update(range(first - 1, end + 1))
            elif after in ("||", "&&") and first != i or after == "||":
                skip.update(range(first, end + 2))
            else:  # a whole statement that is dead
                start = i
                while tokens[start].text != "if":
                    start -= 1
                condition = closing(tokens, start + 1)
                last = end_of_statement(tokens, condition + 1)
                skip.update(range(start, last + 1))
    return skip


def number_changed(text):
    digits = text.lower().replace("'", "")
    is_hex = digits.startswith("0x")
    if "p" in digits if is_hex else re.search(r"[.e]", digits):
        value = float.fromhex(digits) if is_hex else float(digits.rstrip("fl"))
        return "1.0" if value == 0 else f"(2 * {text})"
    value = int(digits.rstrip("ulz"), 16 if is_hex else 10)
    return {0: "1", 1: "0"}.get(value, f"({text} + 1)")


def changes_of(tokens):
    """(place, before, after) of each mutation."""
    skip = left_alone(tokens)
    for i, token in enumerate(tokens):
        if i in skip:
            continue
        previous = tokens[i - 1] if i > 0 else None
        following = tokens[i + 1] if i + 1 < len(tokens) else None
        text = token.text
        if token.kind == "number":
            yield token.at, text, number_changed(text)
        elif token.kind == "name":
            if text in NAMES and not (previous and previous.text == "."):
                called = following is not None and following.text in ("(", "<", "{", ";", ",", ")")
                if called or text in ("true", "false"):
                    yield token.at, text, NAMES[text]
            elif text in NAMES and text.endswith("_bound"):
                yield token.at, text, NAMES[text]
            elif text in ("if", "while"):
                at = i + 2 if following is not None and following.text == "constexpr" else i + 1
                if at < len(tokens) and tokens[at].text == "(":
                    end = closing(tokens, at)
                    first = at + 1
                    depth = 0
                    for j in range(at + 1, end):  # behind an initialisation
                        depth += tokens[j].text in ("(", "{", "[")
                        depth -= tokens[j].text in (")", "}", "]")
                        if tokens[j].text == ";" and depth == 0:
                            first = j + 1
                    yield (tokens[first].at, (tokens[first].at, tokens[end].at), "negated")
        elif token.kind == "symbol":
            operand_before = previous is not None and (
                previous.kind in ("number", "text") or previous.text in (")", "]", "}")
                or previous.kind == "name" and previous.text not in WORDS)
            if text in STEPS:
                yield token.at, text, STEPS[text]
            elif (text in BINARY and token.space_before and token.space_after and operand_before):
                yield token.at, text, BINARY[text]
            elif text in UNARY and not token.space_after and (token.space_before or not operand_before):
                yield token.at, text, UNARY[text]
            elif text == "?" and token.space_before and operand_before:
                yield token.at, text, "== false ?"  # of `a && b ? c : d` it negates b alone


def mutations_of(file):
    source = (ROOT / "src" / "tandem" / file).read_text(encoding="utf-8")
    lines = source.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    seen = {}
    nths = []
    for line in lines:
        seen[line.strip()] = seen.get(line.strip(), 0) + 1
        nths.append(seen[line.strip()])
    out = []
    for at, before, after in changes_of(tokens_of(source)):
        if isinstance(before, tuple):  # a condition
            begin, end = before
            before = source[begin:end]
            after = f"!({before})"
        number = next(n for n in range(len(lines)) if starts[n + 1] > at)
        stripped = lines[number].strip()
        indent = len(lines[number]) - len(lines[number].lstrip())
        out.append(Mutation(file, at, before, after, number + 1, stripped,
                            at - starts[number] - indent, nths[number], seen[stripped]))
    return out


def all_mutations():
    return [mutation for file in trusted_files() for mutation in mutations_of(file)]


def drawn(mutations, seed):
    """All of them in an order that depends on the seed and on each one alone, so that a draw from
    them stays as it is where a source does."""
    def rank(mutation):
        return hashlib.sha256("\t".join((str(seed), *mutation.key())).encode()).digest()
    return sorted(mutations, key=rank)


def changed(mutation):
    """The file's source with the fault in it."""
    source = (ROOT / "src" / "tandem" / mutation.file).read_text(encoding="utf-8")
    end = mutation.at + len(mutation.before)
    assert source[mutation.at:end] == mutation.before
    return source[:mutation.at] + mutation.after + source[end:]
