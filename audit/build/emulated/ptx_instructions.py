"""The text of one `asm` statement, instruction by instruction: from PTX's words to calls, by the table alone."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from functools import cache

from audit.build.emulated.ptx_table import MODIFIERS, NEEDS, SPECIAL, TABLE, TYPES
from audit.build.settings import DEVICE_PREFIX as NAME
from audit.model.errors import Unsupported

_PTX = f"::{NAME}::ptx::"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SPACES = re.compile(r"\s+")
_REGISTERS = re.compile(r"\.reg\s*\.(?P<type>\w+)\s+(?P<names>.+)", re.DOTALL)
_RANGE = re.compile(r"(?P<name>[\w$%]+)<(?P<count>\d+)>")
_GUARD = re.compile(r"@(?P<negated>!?)(?P<name>[\w$%]+)\s+")
_NAME = re.compile(r"[%$_A-Za-z][\w$]*(?:\.[xyz])?")
_NUMBER = re.compile(r"(?P<sign>-?)(?P<digits>0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?")
_DECIMAL = re.compile(r"-?\d+\.\d*(?:[eE][+-]?\d+)?")
_FLOAT = re.compile(r"0[fFdD](?P<bits>[0-9a-fA-F]{8}(?:[0-9a-fA-F]{8})?)")
_ADDRESS = re.compile(r"\[\s*(?P<base>[\w%$]+)\s*(?:(?P<sign>[+-])\s*(?P<offset>[\w%$-]+)\s*)?\]")
_BARRIERS = frozenset({"bar.sync", "barrier.sync", "barrier.sync.aligned"})
_CACHE_HINT = ".L2::cache_hint"  # with a policy as the last operand
_MOST = 512  # registers that one statement declares


class Block:
    """The instructions of one statement, and the registers that they declare.

    Args:
        kinds: the constraint letter of each operand, in order.
        line: of the statement, for what is refused.
        escaped: whether `%%` stands for a percent sign, as in a statement with operands.
    """

    def __init__(self, kinds: Sequence[str], *, line: int, escaped: bool) -> None:
        self._kinds, self._line, self._escaped = kinds, line, escaped
        self._names: dict[str, str] = {}
        self.declarations: list[str] = []

    def translated(self, template: str) -> list[str]:
        """Return C++ for every instruction of a template. Raises Unsupported."""
        text = _COMMENT.sub(" ", template)
        scopes: list[dict[str, str]] = []
        calls = []
        for each in _instructions(text):
            if each == "{":
                scopes.append(dict(self._names))
            elif each == "}":
                self._names = scopes.pop() if scopes else self._names
            elif registers := _REGISTERS.fullmatch(each):
                self._declare(registers["names"])
            else:
                calls.append(self._guarded(each))
        return calls

    def _declare(self, names: str) -> None:
        for each in (part.strip() for part in names.split(",")):
            several = _RANGE.fullmatch(each)
            count = int(several["count"]) if several else 0
            for name in [f"{several['name']}{index}" for index in range(min(count, _MOST))] if several else [each]:
                if len(self.declarations) == _MOST or not _NAME.fullmatch(name):
                    raise self._refusal(f".reg {each}")
                number = len(self.declarations)
                self._names[self._plain(name)] = f"{NAME}_local_{number}"
                self.declarations.append(f"{_PTX}Register {NAME}_local_{number} = {_PTX}unwritten;")

    def _guarded(self, instruction: str) -> str:
        guard = _GUARD.match(instruction)
        if guard is None:
            return self._call(instruction)
        condition = f"{guard['negated']}({self._value(guard['name'])} & 1)"
        return f"if ({condition}) {{ {self._call(instruction[guard.end() :])} }}"

    def _call(self, instruction: str) -> str:
        mnemonic, _, rest = instruction.partition(" ")
        if mnemonic.startswith("."):
            raise Unsupported("inline assembly", line=self._line)
        hinted = _CACHE_HINT in mnemonic
        mnemonic = mnemonic.replace(_CACHE_HINT, "", 1)
        function = _function(mnemonic)
        if function is None or (mnemonic in _BARRIERS and rest.strip() != "0"):
            raise self._refusal(instruction if mnemonic in _BARRIERS else mnemonic)
        arguments = [self._value(each, mnemonic) for part in _operands(rest) for each in part.split("|")]
        if hinted:
            arguments.pop()
        return f"{_PTX}{function}({', '.join(arguments)});"

    def _value(self, operand: str, mnemonic: str = "") -> str:
        """C++ for one operand: a register, a constant, an address, or several registers in curly brackets."""
        operand = operand.strip()
        if operand.startswith("{") and operand.endswith("}"):
            return f"{_PTX}several({', '.join(self._value(each) for each in operand[1:-1].split(','))})"
        if address := _ADDRESS.fullmatch(operand):
            base = self._value(address["base"])
            offset = f" {address['sign']} {self._value(address['offset'])}" if address["offset"] else ""
            return f"({base}{offset})"
        if operand.startswith("!"):
            return f"{_PTX}Register(!({self._value(operand[1:])} & 1))"
        if number := _NUMBER.fullmatch(operand):
            digits = number["digits"] if len(number["digits"]) == 1 else number["digits"].lower()
            whole = int(digits, 8 if re.fullmatch("0[0-7]+", digits) else 0)
            return self._constant(-whole if number["sign"] else whole)
        bits = _bits(operand, mnemonic)
        return self._register(operand) if bits is None else self._constant(bits)

    def _constant(self, value: int) -> str:
        return f"{_PTX}Constant<{value % 2**64:#x}ull>()"

    def _register(self, operand: str) -> str:
        plain = self._plain(operand)
        if plain[:1] == "%" and plain[1:].isdecimal() and self._escaped and int(plain[1:]) < len(self._kinds):
            return f"{NAME}_{int(plain[1:])}"
        if plain in self._names:
            return self._names[plain]
        if plain == "_":
            return f"{_PTX}Sink().held"
        if plain[:1] == "%" and (special := SPECIAL.get(plain[1:])):
            return f"{_PTX}Register({special})"
        raise self._refusal(operand)

    def _plain(self, name: str) -> str:
        """The name without the second percent sign that a statement with operands writes."""
        return name[1:] if self._escaped and name.startswith("%%") else name

    def _refusal(self, word: str) -> Unsupported:
        least = next((needs for start, needs in NEEDS if f"{word}.".startswith(start)), "")
        if least:
            why = f"inline PTX with {word}, for which a GPU of compute capability {least} is needed"
        else:
            why = f"inline PTX with {word}, for which a GPU is needed"
        return Unsupported(why, line=self._line)


def _bits(operand: str, mnemonic: str) -> int | None:
    """Return the bits of a number with a fraction, of single precision where the instruction takes that."""
    if found := _FLOAT.fullmatch(operand):
        return int(found["bits"], 16)
    if not _DECIMAL.fullmatch(operand):
        return None
    kind = "<f" if mnemonic.endswith(".f32") else "<d"
    return int.from_bytes(struct.pack(kind, float(operand)), "little")


def _instructions(text: str) -> Iterator[str]:
    """Each instruction with single spaces, and each curly bracket that opens or closes a scope."""
    depth, begin = 0, 0
    for offset, character in enumerate(text):
        fresh = not text[begin:offset].strip()
        if character in "{}" and fresh and depth == 0:
            yield character
            begin = offset + 1
        elif character in "{}":
            depth += 1 if character == "{" else -1
        elif character == ";":
            if not fresh:
                yield _SPACES.sub(" ", text[begin:offset].strip())
            begin, depth = offset + 1, 0
    if rest := text[begin:].strip():
        yield _SPACES.sub(" ", rest)


def _operands(text: str) -> list[str]:
    """Operands apart, curly and square brackets whole."""
    return [each for each in re.findall(r"(?:\{[^}]*\}|\[[^\]]*\]|[^,{\[])+", text) if each.strip()]


@cache
def _function(mnemonic: str) -> str | None:
    """The C++ function of an instruction, template arguments and all; None where the table has no row for it."""
    opcode, *words = mnemonic.split(".")
    for row_opcode, modifiers, function in TABLE:
        found = _matched(modifiers.split(), words) if row_opcode == opcode else None
        if found is not None:
            return function.format_map(found)
    return None


class _Found(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return _spelt({"space": "generic", "strong": "weak", "rounding": "unstated"}[key])


def _spelt(word: str) -> str:
    """A modifier in C++: a type, a number, or one of the words of `ptx.h`."""
    shape = word.removeprefix("m16n8k")
    return TYPES.get(word, shape if shape != word else f"{_PTX}{word.partition('::')[0]}_")


def _matched(modifiers: list[str], words: list[str]) -> _Found | None:
    """Which word is which modifier, in C++; None where one is missing or left over. The assembler of a GPU takes them
    in other orders than the manual's too."""
    found, left = _Found(), list(modifiers)
    for word in words:
        place = next((each for each in left if _is(word, each)), None)
        if place is None:
            return None
        if not place.endswith("*"):
            left.remove(place)
        found[place.rstrip("?*")] = _spelt(word)
    return None if any(each[-1] not in "?*" for each in left) else found


def _is(word: str, modifier: str) -> bool:
    plain = modifier.rstrip("?*")
    return word == plain[1:] if plain.startswith(".") else re.fullmatch(MODIFIERS[plain], word) is not None
