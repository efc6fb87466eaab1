# SPDX-License-Identifier: MIT
"""Finds the places of a C file where one small edit breaks a bound or a lifetime.

A place is found in the source as it is written, not as the preprocessor leaves it: what a macro's definition
contains is no place, and code inside `#if` is one. The caller keeps only those that are executed.
"""

import re
from dataclasses import dataclass

import tree_sitter
import tree_sitter_c

BOUND, LIFETIME = "bound", "lifetime"

_ALLOCATES = re.compile(r"(?<!de)alloc", re.IGNORECASE)
_REALLOCATES = re.compile(r"realloc", re.IGNORECASE)
_FREES = re.compile(r"free|dealloc|delete", re.IGNORECASE)
_COPIES = re.compile(r"mem_?(?:cpy|move|set)$|^strncpy$", re.IGNORECASE)
# Comparisons that let one more or one less pass, with the other one.
_OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
# Expressions without a side effect: they can be written twice.
_PLAIN = frozenset(("identifier", "field_expression"))
# Parts of a function of which no edit is made if they cannot be parsed.
_SMALL = frozenset(("ERROR", "expression_statement", "declaration", "binary_expression"))
# The name of a variable that a mutation declares.
_LOCAL = "redzone_local"


@dataclass(frozen=True, order=True)
class Place:
    """One possible edit. @line, @column: where, from 1. @kind: BOUND or LIFETIME. @rule: what is broken.

    @edits: ((first byte, byte behind the last, new text), ...), from the start of the file to its end.
    @before, @after: the code, shortened, for people.
    """

    line: int
    column: int
    kind: str
    rule: str
    edits: tuple
    before: str
    after: str

    def apply(self, source):
        """Return the bytes @source with the edit. No line moves."""
        for first, last, text in reversed(self.edits):
            source = source[:first] + text.encode() + source[last:]
        return source


def _text(node):
    return node.text.decode("utf-8", "replace")


def _walk(node):
    """Yield @node and all below it, in the order of the source."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def _is_plain(node):
    """Can @node be evaluated twice?"""
    return node.type in _PLAIN and all(
        child.type not in ("call_expression", "update_expression", "assignment_expression")
        for child in _walk(node)
    )


def _callee(call):
    """Return the last name of the called function: `free` of `parser->mem.free(x)`; "" if it has none."""
    function = call.child_by_field_name("function")
    if function is None:
        return ""
    if function.type == "identifier":
        return _text(function)
    field = function.child_by_field_name("field")
    return _text(field) if field is not None else ""


def _arguments(call):
    return call.child_by_field_name("arguments").named_children


def _operator(node):
    found = node.child_by_field_name("operator")
    return _text(found) if found is not None else ""


def _uses(node, name):
    """Does the code of @node mention the expression @name?"""
    return any(child.type in _PLAIN and _text(child) == name for child in _walk(node))


def _short(text, size=60):
    text = " ".join(text.split())
    return text if len(text) <= size else f"{text[: size - 3]}..."


def _declared(function):
    """Return {name: is it an array} of the parameters and variables of the function definition @function.

    Static variables are left out, and names that are declared twice, because two scopes may differ.
    """
    found, twice = {}, set()
    for node in _walk(function):
        if node.type not in ("declaration", "parameter_declaration"):
            continue
        if any(child.type == "storage_class_specifier" for child in node.children):
            continue
        for child in node.children_by_field_name("declarator"):
            kinds = []
            while child is not None and child.type != "identifier":
                kinds.append(child.type)
                child = child.child_by_field_name("declarator")
            if child is None or "function_declarator" in kinds:
                continue
            name = _text(child)
            twice |= {name} & found.keys()
            found[name] = "array_declarator" in kinds
    return {name: array for name, array in found.items() if name not in twice}


def _addresses(function):
    """Return the names that the function uses to make addresses or sizes: indices, pointers, lengths."""
    names = set()
    for node in _walk(function):
        parts = []
        if node.type == "subscript_expression" or (
            node.type == "pointer_expression" and _operator(node) == "*"
        ):
            parts = node.named_children
        elif node.type == "call_expression" and (
            _COPIES.search(_callee(node)) or _ALLOCATES.search(_callee(node))
        ):
            parts = _arguments(node)
        for part in parts:
            names |= {_text(leaf) for leaf in _walk(part) if leaf.type in ("identifier", "field_identifier")}
    return names


class _Finder:
    """Collects the Places of one function definition."""

    def __init__(self, function):
        self.function = function
        self.places = []
        self.addresses = _addresses(function)
        self.declared = _declared(function)

    def add(self, kind, rule, node, edits, after=None, shown=None):
        """@node: where the coverage is looked up. @shown: the node that the reader sees, @after: its new
        text; by default it is @node with the edits."""
        shown = shown or node
        if after is None:
            after = shown.text
            for first, last, text in reversed(edits):
                after = after[: first - shown.start_byte] + text.encode() + after[last - shown.start_byte :]
            after = after.decode("utf-8", "replace")
        row, column = node.start_point
        self.places.append(
            Place(row + 1, column + 1, kind, rule, tuple(edits), _short(_text(shown)), _short(after))
        )

    def find(self):
        for node in _walk(self.function.child_by_field_name("body")):
            # The parser did not understand it: often a macro that stands for a part of a statement.
            if node.has_error and node.type in _SMALL:
                continue
            match node.type:
                case "binary_expression":
                    self.comparison(node)
                    self.one_less(node)
                case "subscript_expression":
                    self.index(node)
                case "call_expression":
                    self.allocation(node)
                    self.length(node)
                    self.local_argument(node)
                case "expression_statement":
                    self.free(node)
                case "assignment_expression":
                    self.realloc(node, node.child_by_field_name("left"), node.child_by_field_name("right"))
                case "init_declarator":
                    self.realloc(
                        node, node.child_by_field_name("declarator"), node.child_by_field_name("value")
                    )
                case "return_statement":
                    self.local_result(node)
        return self.places

    # --- Bounds ---

    def comparison(self, node):
        """One more or one less passes a comparison of an index, a pointer or a length."""
        other = _OTHER.get(_operator(node))
        names = {_text(leaf) for leaf in _walk(node) if leaf.type in ("identifier", "field_identifier")}
        if other is None or not names & self.addresses:
            return
        operator = node.child_by_field_name("operator")
        self.add(BOUND, "comparison", node, [(operator.start_byte, operator.end_byte, other)])

    def one_less(self, node):
        """`size - 1` becomes `size`."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if _operator(node) == "-" and right.type == "number_literal" and _text(right) == "1":
            self.add(BOUND, "minus-one", node, [(left.end_byte, right.end_byte, "")])

    def index(self, node):
        """`a[i]` becomes `a[i + 1]`."""
        index = node.child_by_field_name("index")
        if index is None or index.type == "string_literal":
            return
        first, last = (
            [(index.start_byte, index.start_byte, "(")],
            [(index.end_byte, index.end_byte, ") + 1")],
        )
        if index.type in ("identifier", "number_literal"):
            first, last = [], [(index.end_byte, index.end_byte, " + 1")]
        self.add(BOUND, "index", node, [*first, *last])

    def allocation(self, node):
        """The size of an allocation is halved, or loses a constant that was added to it."""
        arguments = _arguments(node)
        if not _ALLOCATES.search(_callee(node)) or not arguments:
            return
        size = arguments[-1]
        if size.type in ("string_literal", "compound_statement"):
            return
        self.add(
            BOUND,
            "half-size",
            node,
            [(size.start_byte, size.start_byte, "("), (size.end_byte, size.end_byte, ") / 2")],
        )
        for part in _walk(size):
            if part.type == "binary_expression" and _operator(part) == "+":
                left, right = part.child_by_field_name("left"), part.child_by_field_name("right")
                if right.type == "number_literal":
                    self.add(BOUND, "plus-constant", node, [(left.end_byte, right.end_byte, "")])
                elif left.type == "number_literal":
                    self.add(BOUND, "plus-constant", node, [(left.start_byte, right.start_byte, "")])

    def length(self, node):
        """A copy or a fill gets one byte more."""
        arguments = _arguments(node)
        if not _COPIES.search(_callee(node)) or len(arguments) != 3:
            return
        size = arguments[2]
        self.add(
            BOUND,
            "length",
            node,
            [(size.start_byte, size.start_byte, "("), (size.end_byte, size.end_byte, ") + 1")],
        )

    # --- Lifetimes ---

    def free(self, statement):
        """Something is freed twice, or before its last use in the same block."""
        call = statement.named_children[0] if statement.named_children else None
        if call is None or call.type != "call_expression" or not _FREES.search(_callee(call)):
            return
        # The object comes last: `free(p)`, `pool_free(pool, p)`.
        arguments = _arguments(call)
        if not arguments or not _is_plain(arguments[-1]) or _text(arguments[-1]) in ("NULL", "0"):
            return
        text, name = _text(statement), _text(arguments[-1])
        if "\n" in text:
            return
        start, end = statement.start_byte, statement.end_byte
        # The braces keep both under an `if` without any.
        self.add(LIFETIME, "double-free", statement, [(start, end, f"{{ {text} {text} }}")])
        if statement.parent.type not in ("compound_statement", "case_statement"):
            return
        before = statement.prev_named_sibling
        while before is not None and not _uses(before, name):
            before = before.prev_named_sibling
        if before is None or not before.type.endswith("_statement") or self.assigns(before, name):
            return
        if before.type in ("labeled_statement", "case_statement"):
            return
        first = _short(_text(before), 30)
        self.add(
            LIFETIME,
            "early-free",
            before,
            [(before.start_byte, before.start_byte, f"{text} "), (start, end, ";")],
            f"{text} {first}",
        )

    @staticmethod
    def assigns(statement, name):
        """Is @statement `name = ...;`?"""
        inner = statement.named_children[0] if statement.named_children else None
        return (
            inner is not None
            and inner.type == "assignment_expression"
            and _text(inner.child_by_field_name("left")) == name
        )

    def realloc(self, node, target, value):
        """The result of realloc() is ignored, and the old pointer is used."""
        while value is not None and value.type in ("cast_expression", "parenthesized_expression"):
            value = value.child_by_field_name("value") or (value.named_children or [None])[-1]
        if value is None or value.type != "call_expression" or not _REALLOCATES.search(_callee(value)):
            return
        arguments = _arguments(value)
        if target is None or len(arguments) < 2:
            return
        # `realloc(p, size)`, `pool_realloc(pool, p, size)`.
        old = arguments[-2]
        if not _is_plain(old):
            return
        self.add(
            LIFETIME,
            "realloc-ignored",
            node,
            [(value.start_byte, value.end_byte, f"({_text(value)}, {_text(old)})")],
        )

    def local_argument(self, call):
        """A function gets the address of a copy whose scope has ended."""
        for argument in _arguments(call):
            if argument.type != "pointer_expression" or _operator(argument) != "&":
                continue
            variable = argument.child_by_field_name("argument")
            if variable.type != "identifier" or self.declared.get(_text(variable)) is not False:
                continue
            name = _text(variable)
            new = f"({{ __typeof__({name}) {_LOCAL} = {name}; &{_LOCAL}; }})"
            self.add(
                LIFETIME,
                "dead-argument",
                call,
                [(argument.start_byte, argument.end_byte, new)],
                f"{_callee(call)}(... &copy of {name}, out of scope ...)",
            )

    def local_result(self, statement):
        """A function returns the address of a local copy."""
        value = statement.named_children[0] if statement.named_children else None
        declarator = self.function.child_by_field_name("declarator")
        if value is None or value.type != "identifier" or declarator.type != "pointer_declarator":
            return
        name = _text(value)
        if name not in self.declared:
            return
        new = f"{name} ? ({{ __typeof__(*{name}) {_LOCAL} = *{name}; &{_LOCAL}; }}) : {name}"
        self.add(
            LIFETIME,
            "dead-result",
            statement,
            [(value.start_byte, value.end_byte, new)],
            f"return &copy of *{name};",
        )


def find(source):
    """Return the Places of the C file with the bytes @source, in the order of the file."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))
    tree = parser.parse(source)
    places = []
    for node in _walk(tree.root_node):
        if node.type == "function_definition" and node.child_by_field_name("body") is not None:
            places += _Finder(node).find()
    return sorted(places)
