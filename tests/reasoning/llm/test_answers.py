"""Answers: their schema in strict form, what prompts say of it, and reading whatever a model writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from teamworld.methods.common.plan_answers import PlanAnswer
from teamworld.methods.drwell.questions import Commitment, Proposal, Remark, Revision
from teamworld.methods.zero_shot.questions import TargetedPlan
from teamworld.reasoning.contract import BadAnswer, Flaw, Rejected
from teamworld.reasoning.llm.answers import COMPLAINT, describe_form, make_schema, read_answer
from teamworld.reasoning.llm.contract import FORMS, Completion, Form, Usage
from teamworld.reasoning.llm.lenient_json import LONGEST, find_objects
from tests.reasoning.llm.answers_corpus import CASES, Case

MODELS: list[type[BaseModel]] = [Proposal, Commitment, Remark, Revision, PlanAnswer, TargetedPlan]


class Site(BaseModel):
    """A place."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(max_length=8, pattern="^[^ ]+$")]
    note: str | None = Field(default=None, max_length=10)


class StepResult(BaseModel):
    """What was found."""

    model_config = ConfigDict(extra="forbid")

    title: Literal["fire", "flood"]
    sites: list[Site] = Field(description="where", max_length=3)
    best: Site | None
    sure: float = Field(ge=0, le=1)
    count: int = 0


def completed(text: str, finish: Literal["stop", "length", "refused"] = "stop") -> Completion:
    return Completion(text=text, finish=finish, usage=Usage())


def outcome(text: str, model: type[BaseModel], form: Form = "json") -> BaseModel | Rejected:
    try:
        return read_answer(completed(text), model, form)
    except BadAnswer as bad:
        return bad.rejected


def rejected(text: str, model: type[BaseModel]) -> Rejected:
    result = outcome(text, model)
    assert isinstance(result, Rejected)
    return result


# The schema


def strictness(schema: dict[str, Any]) -> None:
    """Assert that a schema keeps to what every provider's strict mode takes."""
    assert set(schema) <= {"type", "properties", "required", "additionalProperties", "items", "anyOf"} | {
        "enum",
        "const",
        "description",
    }
    if schema.get("type") == "object":
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
    for part in [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]:
        strictness(part)
    if "items" in schema:
        strictness(schema["items"])


@pytest.mark.parametrize("model", [*MODELS, StepResult])
def test_schemas_keep_to_what_strict_modes_take(model: type[BaseModel]) -> None:
    schema = make_schema(model)
    assert schema["type"] == "object"
    assert list(schema["properties"]) == list(model.model_fields)
    strictness(schema)


def test_a_schema_says_bounds_in_words_and_keeps_null() -> None:
    assert make_schema(Commitment) == {
        "description": "The task an agent binds itself to; null to wait.",
        "type": "object",
        "properties": {
            "reasoning": {
                "type": "string",
                "description": "your reasoning, in a few sentences; at most 2000 characters",
            },
            "goal": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "id of the task, or null to wait"},
        },
        "required": ["reasoning", "goal"],
        "additionalProperties": False,
    }


def test_nested_models_stand_in_place_and_a_field_may_be_named_title() -> None:
    class Plain(BaseModel):
        title: Literal["fire", "flood"]
        sites: list[Commitment] = Field(description="where", min_length=1, max_length=3)
        sure: float = Field(gt=0, le=1)

    assert make_schema(Plain)["properties"] == {
        "title": {"type": "string", "enum": ["fire", "flood"]},
        "sites": {
            "type": "array",
            "items": make_schema(Commitment),
            "description": "where; at least 1 entries; at most 3 entries",
        },
        "sure": {"type": "number", "description": "more than 0; at most 1"},
    }


class Chain(BaseModel):
    next: Chain | None


@pytest.mark.parametrize(
    ("annotation", "named"),
    [(dict[str, int], "mapping"), (tuple[int, str], "prefixItems"), (Any, "any type"), (Chain, "Chain holds itself")],
)
def test_a_model_without_a_strict_form_is_refused(annotation: Any, named: str) -> None:  # noqa: ANN401
    model = type("Odd", (BaseModel,), {"__annotations__": {"field": annotation}})
    with pytest.raises(TypeError, match=named):
        make_schema(model)


# What prompts say


@pytest.mark.parametrize("model", [*MODELS, StepResult])
def test_prompts_name_every_field_where_the_provider_does_not(model: type[BaseModel]) -> None:
    schema = make_schema(model)
    assert describe_form("schema", schema) == describe_form("tool", schema) == ""
    for form in ("json", "text"):
        text = describe_form(form, schema)
        assert "JSON" in text  # OpenAI's JSON mode refuses prompts without the word
        assert all(f"- {name} (" in text for name in schema["properties"])
        assert ("<answer>" in text) == (form == "text")


def test_the_form_in_words() -> None:
    assert describe_form("text", make_schema(Commitment)) == (
        "Give your answer as one JSON object between tags, in this form: "
        '<answer>{"reasoning": ..., "goal": ...}</answer>\n'
        "All of its fields are needed:\n"
        "- reasoning (string): your reasoning, in a few sentences; at most 2000 characters\n"
        "- goal (string or null): id of the task, or null to wait"
    )
    assert describe_form("json", make_schema(StepResult)).splitlines()[2:] == [
        '- title ("fire" or "flood")',
        "- sites (list of object): where; at most 3 entries",
        *[
            "  - name (string): at most 8 characters; matching ^[^ ]+$",
            "  - note (string or null): at most 10 characters",
        ],
        "- best (object or null): A place.",
        *[
            "  - name (string): at most 8 characters; matching ^[^ ]+$",
            "  - note (string or null): at most 10 characters",
        ],
        "- sure (number): at least 0; at most 1",
        "- count (integer)",
    ]


# Reading


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_answers_as_models_write_them(case: Case, form: Form) -> None:
    try:
        read = read_answer(completed(case.text, case.finish), case.model, form).model_dump()
        assert {name: value for name, value in read.items() if name != "reasoning" or value} == case.expected
    except BadAnswer as bad:
        assert bad.rejected.flaw == case.expected, bad.rejected.complaint
        assert bad.rejected.text == case.text
        assert bad.rejected.call is None
        assert case.hint in bad.rejected.complaint or form != "text"


def test_the_corpus_has_every_flaw_that_reading_can_find() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 60
    assert {case.expected for case in CASES if isinstance(case.expected, str)} == {*get_args(Flaw)} - {
        "none",
        "lost",
        "intent",
    }


def test_free_texts_are_cut_at_every_depth_and_names_never() -> None:
    site = {"name": "ab", "note": "x" * 20}
    report = {"title": "fire", "sites": [site], "best": site, "sure": "0.5", "count": "7"}
    answer = read_answer(completed(json.dumps(report)), StepResult, "json")
    assert (answer.sites[0].note, answer.best and answer.best.note) == ("x" * 9 + "…", "x" * 9 + "…")
    assert (answer.sure, answer.count) == (0.5, 7)
    report["best"] = {"name": "a" * 9}
    bad = rejected(json.dumps(report), StepResult)
    assert (bad.flaw, "best.name: " in bad.complaint) == ("schema", True)


def test_quotes_may_stand_in_free_texts_at_every_depth() -> None:
    text = '{"title": "fire", "sites": [{"name": "a", "note": "a "b" c"}], "best": null, "sure": 1}'
    assert read_answer(completed(text), StepResult, "json").sites[0].note == 'a "b" c'


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", '"nan"', "1e999", "1" * 4000, "1" * 5000])
@pytest.mark.parametrize("start", ["", "So: "])
def test_numbers_out_of_range_are_refused(number: str, start: str) -> None:
    class Free(BaseModel):
        sure: float

    bad = rejected(f'{start}{{"sure": {number}}}', Free)
    assert bad.flaw in {"schema", "json"}


def test_a_complaint_is_short_and_quotes_little() -> None:
    fields = {f"{'k' * 500}{index}\x1b\n": "secret " * 100 for index in range(50)}
    bad = rejected(json.dumps(fields), Proposal)
    assert bad.complaint.startswith("goal: missing; reason: missing; kkkk")
    assert bad.complaint.endswith("the fields are reasoning, goal, reason")
    assert "secret" not in bad.complaint
    assert bad.complaint.isprintable()
    bad = rejected(json.dumps({"goal": ["x"] * 50, "reason": 5}), Proposal)
    assert bad.complaint == (
        "goal: expected a valid string, got a list of 50; reason: expected a valid string, got the number 5; "
        "the fields are reasoning, goal, reason"
    )


def test_a_complaint_is_cut_at_its_longest() -> None:
    bad = rejected(
        json.dumps({"title": "x" * 900, "sites": "y" * 900, "best": "z" * 900, "sure": "u" * 900}), StepResult
    )
    assert (len(bad.complaint), bad.complaint[-1]) == (COMPLAINT, "…")
    assert rejected(json.dumps({"actions": "x" * 900}), PlanAnswer).complaint == (
        f"actions: expected a valid list, got '{'x' * 40}'… (900 characters); the fields are reasoning, actions"
    )
    assert rejected('{"goal": "a", "reason": "b", "k\\u001b": 1}', Proposal).complaint.startswith("k : no field")


def test_a_tangled_text_in_an_object_is_passed_over() -> None:
    text = json.dumps({"note": "{a:[" * 40_000, "answer": {"goal": "a", "reason": "b"}})
    assert outcome(text, Proposal) == Proposal(goal="a", reason="b")


def test_a_misfit_is_judged_by_the_last_object_that_means_to_be_the_answer() -> None:
    text = '{"goal": 1, "reason": ""} {"goal": 2, "reason": ""} {"confidence": 1}'
    assert "got the number 2" in rejected(text, Proposal).complaint


def test_of_a_longer_text_the_end_is_read() -> None:
    answer = '{"goal": "a", "reason": "b"}'
    assert outcome("{'" + "so " * LONGEST + answer, Proposal) == Proposal(goal="a", reason="b")
    assert rejected(answer + "so " * LONGEST, Proposal).flaw == "json"


HARD = ["{a:[", "{}", '{"', "{\u2018", "{/*", '{"reason":"', '{"reason":"\\']
HARD += ["<think>", "</think>", '{"goal":1}', '{"x":"{}"}']


@pytest.mark.timeout(60)  # each takes less than a second; were it not linear, it would be minutes
@pytest.mark.parametrize("part", HARD)
def test_no_text_takes_long(part: str) -> None:
    result = outcome(part * (LONGEST // len(part)), Remark)
    assert isinstance(result, Rejected)
    assert len(result.complaint) <= COMPLAINT


@pytest.mark.timeout(60)
@pytest.mark.parametrize("space", [" ", "\n", "\ufeff", "``` "])
def test_no_gap_between_words_takes_long(space: str) -> None:
    assert rejected(f"Well,{space * (LONGEST // len(space) - 10)}no.", Remark).flaw == "json"


@pytest.mark.parametrize("entry", ["1", "{}", "[]", '""', "1.5", "null", "'a'", '{"a":1}'])
def test_long_sound_objects_are_not_tangled(entry: str) -> None:
    count = LONGEST // (len(entry) + 1) - 5
    result = find_objects(f'x{{"a":[{",".join([entry] * count)}]}}')
    assert len(result.objects[0]["a"]) == count


def test_depth_is_bounded() -> None:
    assert rejected('{"a":' * 5_000 + "1" + "}" * 5_000, Remark).flaw == "json"
    assert rejected('{"a":' + "[" * 10_000 + "]" * 10_000 + "}", Remark).flaw == "json"
    assert find_objects("x" + '{"a":' * 10 + "1" + "}" * 10).objects


# Any sound answer, however it is written and whatever stands round it

TOKENS = ["</think>", "<answer>", "a}b{", '"', "'", "it's", "\\", "//", "/*", "#", "null", "```", "“q”", "😀"]
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30) | st.sampled_from(TOKENS)
PROSE = st.lists(WORDS | st.sampled_from(["\n", "\t", ", ", ": ", "}, {"]), max_size=8).map("".join)
SOUND: st.SearchStrategy[BaseModel] = st.one_of(
    st.builds(Proposal, goal=WORDS, reason=PROSE),
    st.builds(Commitment, goal=st.none() | WORDS, reasoning=PROSE),
    st.builds(Remark, text=PROSE, goal=st.none() | WORDS),
    st.builds(Revision, actions=st.lists(WORDS, max_size=5).map(tuple), reflection=PROSE),
    st.builds(TargetedPlan, actions=st.lists(WORDS, max_size=5).map(tuple), goal=st.none() | WORDS),
)


def curly(value: object) -> str:
    """Write JSON with curly quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{curly(key)}: {curly(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(curly, value)) + "]"
    if isinstance(value, str):
        inner = "".join(f"\\{letter}" if letter in '\\"\u201c\u201d\u201e' else letter for letter in value)
        return f"\u201c{inner}\u201d"
    return json.dumps(value)


def javascript(value: dict[str, Any]) -> str:
    """Write JSON with bare keys, comments and trailing commas."""
    lines = [f"  {key}: {json.dumps(part, ensure_ascii=False)}, // {{note}}\n" for key, part in value.items()]
    return "{ /* the answer: */\n" + "".join(lines) + "}"


WRITTEN: dict[str, Callable[[dict[str, Any]], str]] = {
    "json": json.dumps,
    "raw": lambda value: json.dumps(value, ensure_ascii=False),
    "indented": lambda value: json.dumps(value, indent=2),
    "hard spaces": lambda value: json.dumps(value, separators=(",\u00a0\ufeff", ":\u200b")),
    "python": repr,
    "curly": curly,
    "javascript": javascript,
    "wrapped": lambda value: json.dumps({"thought": "Hm {", "answer": value}),
    "listed": lambda value: json.dumps([value]),
    "call": lambda value: json.dumps({"name": "f", "arguments": json.dumps(value)}),
    "calls": lambda value: json.dumps([{"type": "function", "function": {"name": "f", "arguments": repr(value)}}]),
    "twice": lambda value: json.dumps(json.dumps(value)),
}
ROUND = [
    *[
        ("", ""),
        ("\ufeff\x00", "\x00"),
        ("Sure:\n", "\nDone."),
        ("```json\n", "\n```"),
        ("```\n", "\n```\nIs it right?"),
    ],
    *[("<think>Is {block_1} right? {'", "</think>"), ("</think>", "")],
    *[("<thinking>\n{}\n</thinking>\n<answer>", "</answer>")],
    *[("[THINK]x[/THINK]", "<|im_end|>"), ("Reasoning: it's {near}. Answer: ", " {end}"), ("```JSON5\n", "")],
    *[
        ("{\"step\": 1}\n{'goal': 3}\n", '\n{"sure": true}'),
        ("<answer>", '</answer> not {"goal": "", "reason": "", "text": ""}'),
    ],
]


@given(SOUND, st.sampled_from(sorted(WRITTEN)), st.sampled_from(ROUND))
def test_a_sound_answer_is_read_back_unchanged(answer: BaseModel, how: str, around: tuple[str, str]) -> None:
    before, after = around
    if before.startswith("<think>"):  # closed after the answer: begin the answer after it instead
        before, after = before + after, ""
    plain = how == "twice" and before + after != ""
    assume(not plain)  # text of text is read only where nothing stands round it
    text = before + WRITTEN[how](answer.model_dump(mode="json")) + after
    assert read_answer(completed(text), type(answer), "json") == answer


@given(SOUND, st.sampled_from(["raw", "python", "javascript"]))
def test_an_unclosed_thought_before_the_answer_does_no_harm(answer: BaseModel, how: str) -> None:
    text = f"<think>Which? {WRITTEN[how](answer.model_dump(mode='json'))}"
    assume("</think>" not in text)
    assert read_answer(completed(text), type(answer), "json") == answer


JUNK_WORDS = ["\\u", "\\ud800", "//", "/*", "*/", "goal", "text", "reason", "actions", "null", "NaN", "1e999"]
JUNK_WORDS += [
    "function",
    "<think>",
    "</think>",
    "<answer>",
    "</answer>",
    "```",
    '{"text": "',
    '{"goal": "a", "reason": "b"}',
]
JUNK = st.lists(
    st.sampled_from([*"{}[]\"':,#\\-1\n \x00\u201c\u201d\ud83d", *JUNK_WORDS]),
    max_size=40,
).map("".join)


@given(
    st.text(st.characters()) | JUNK,
    st.sampled_from([*MODELS, StepResult]),
    st.sampled_from(["stop", "length", "refused"]),
)
@example('{"goal": "\ud800", "reason": "\ud800"}', Proposal, "stop")
def test_any_text_gives_an_answer_or_a_bad_answer(
    text: str, model: type[BaseModel], finish: Literal["stop", "length", "refused"]
) -> None:
    try:
        answer = read_answer(completed(text, finish), model, "json")
    except BadAnswer as bad:
        assert bad.rejected.flaw in get_args(Flaw)
        assert 0 < len(bad.rejected.complaint) <= COMPLAINT
        assert bad.rejected.complaint.encode()
        return
    assert msgspec.json.encode(answer.model_dump(mode="json"))
    assert finish != "refused"
    assert read_answer(completed(answer.model_dump_json()), model, "json") == answer


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans(), st.sampled_from([None, 1]))
def test_sound_json_is_read_as_a_plain_reader_reads_it(
    value: dict[str, Any], ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    result = find_objects(f"x {text} x", prose=list(value))
    assert result.objects == (json.loads(text),)
    assert (result.open, result.broken) == (False, None)


@given(SOUND, st.data())
def test_half_an_answer_is_none(answer: BaseModel, data: st.DataObject) -> None:
    text = answer.model_dump_json()
    part = text[: data.draw(st.integers(1, len(text) - 1))]
    result = outcome(part, type(answer))
    assume(not isinstance(result, BaseModel) or "{" not in part[1:])  # an object in a string of it
    assert isinstance(result, Rejected)
    with pytest.raises(BadAnswer) as bad:
        read_answer(completed(part, "length"), type(answer), "json")
    assert bad.value.rejected.flaw == "cut"


def test_the_schema_of_a_run_without_reasoning_has_no_such_field() -> None:
    with_it, without = make_schema(TargetedPlan), make_schema(TargetedPlan, reasoning=False)
    assert list(with_it["properties"]) == ["reasoning", *without["properties"]]
    assert "reasoning" not in without["required"]
