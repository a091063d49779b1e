"""Tables as files: LaTeX that a document can take in, whatever the cells say."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from teamworld.report.export import latex, markdown

_WORDS = st.text(st.sampled_from("ab 0.1[]*&%$#_{}~^\\<>|\n-,()"), max_size=12)
_TABLES = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(_WORDS, min_size=width, max_size=width), min_size=1, max_size=5)
)


def check(text: str, columns: int, rows: int) -> None:
    """See that environments and braces close, that each line has its cells, and that nothing special stands bare."""
    open_environments = []
    for begin, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if begin == "begin":
            open_environments.append(name)
        else:
            assert open_environments.pop() == name
    assert open_environments == []
    depth = 0
    bare = re.sub(r"\\[&%_#${}]", "x", text)
    for char in bare:
        depth += (char == "{") - (char == "}")
        assert depth >= 0
    assert depth == 0
    assert not re.search(r"[$#_^~<>|]", bare)
    assert all(line.endswith("%") for line in bare.split("\n") if "%" in line)
    lines = [line for line in bare.split("\n") if line.endswith(r"\\")]
    assert len(lines) == rows + 1
    assert all(line.count("&") == columns - 1 for line in lines)
    assert not any(re.match(r"\s*[\[*]", line) for line in lines)
    commands = {"begin", "end", "centering", "small", "caption", "toprule", "midrule", "bottomrule", "resizebox"}
    commands |= {"textwidth", "textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater"}
    assert set(re.findall(r"\\([a-zA-Z]+)", bare)) <= {*commands, "textbar"}


@given(_TABLES, _WORDS)
def test_any_table_is_latex(table: list[list[str]], caption: str) -> None:
    check(latex(table[0], table[1:], caption), len(table[0]), len(table) - 1)


def test_what_is_special_is_escaped() -> None:
    text = latex(["a^b", "x<y>z"], [["[0, 1]", r"a\b {c}"]], "50 % ~ 3^2")
    assert r"a\textasciicircum{}b & x\textless{}y\textgreater{}z \\" in text
    assert r"{}[0, 1] & a\textbackslash{}b \{c\} \\" in text
    assert r"\caption{50 \% \textasciitilde{} 3\textasciicircum{}2}" in text


def test_a_wide_table_is_shrunk_to_the_page_and_a_narrow_one_is_not() -> None:
    columns = ["metric", *(f"method {number}" for number in range(5))]
    wide = latex(columns, [["O2 Completion", *["0.8229 [0.6771, 0.9583] (8-)"] * 5]], "wide")
    assert "\\resizebox{\\textwidth}{!}{%\n\\begin{tabular}{lrrrrr}" in wide
    check(wide, 6, 1)
    narrow = latex(columns, [["O2 Completion", *["0.8"] * 5]], "narrow")
    assert "resizebox" not in narrow
    assert "\\small\n" in narrow
    check(narrow, 6, 1)


def test_markdown_keeps_its_columns() -> None:
    assert markdown(["a", "b"], [["1|2", "3"]]) == "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |\n"
