"""Answers as language models write them, and what each has to be read as: an answer's fields, or a flaw."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from teamworld.methods.common.plan_answers import PlanAnswer
from teamworld.methods.drwell.questions import Commitment, Proposal, Remark, Revision
from teamworld.methods.zero_shot.questions import TargetedPlan


class Case(NamedTuple):
    name: str
    model: type[BaseModel]
    text: str
    expected: dict[str, Any] | str
    """Fields of the answer, or the flaw."""
    finish: Literal["stop", "length", "refused"] = "stop"
    hint: str = ""
    """What the complaint must say."""


NEAR = {"goal": "block_1", "reason": "It is near."}
GOOD = '{"goal": "block_1", "reason": "It is near."}'
WAIT = {"reasoning": "All is staffed.", "goal": None}
PUSH = {"actions": ("move_to_block(<block>(1), left)", "push_block(<block>(1), 5)")}
PLAN = '{"actions": ["move_to_block(<block>(1), left)", "push_block(<block>(1), 5)"]}'

CASES = [
    # As asked for.
    Case("plain", Proposal, GOOD, NEAR),
    Case("indented", Proposal, '{\n  "goal": "block_1",\n  "reason": "It is near."\n}\n', NEAR),
    Case("null", Commitment, '{"reasoning": "All is staffed.", "goal": null}', WAIT),
    Case("default left out", Commitment, '{"goal": "block_2"}', {"goal": "block_2"}),
    Case("other order", Proposal, '{"reason": "It is near.", "goal": "block_1"}', NEAR),
    Case("tags", Proposal, f"<answer>{GOOD}</answer>", NEAR),
    Case("tags on lines", Proposal, f"<answer>\n{GOOD}\n</answer>\n", NEAR),
    Case("capital tags", Proposal, f"<ANSWER>{GOOD}</ANSWER>", NEAR),
    Case("tag never closed", Proposal, f"<answer>{GOOD}", NEAR),
    Case("empty plan", PlanAnswer, '{"actions": []}', {"actions": ()}),
    # Text around it.
    Case("preamble", Proposal, f"Sure! Here is my proposal:\n\n{GOOD}", NEAR),
    Case("epilogue", Proposal, f"{GOOD}\n\nLet me know if the others disagree.", NEAR),
    Case("both", Proposal, f"I think we should start close by. {GOOD} That seems best to me.", NEAR),
    Case("braces in the text", Proposal, f"Open are {{block_1, block_2}} and {{}}. I take: {GOOD} {{done}}", NEAR),
    Case("half a brace before", Proposal, f'A plan looks like {{"actions": [...]}} or {{"a. Now: {GOOD}', NEAR),
    Case("markdown", Proposal, f"### Proposal\n**Answer:** `{GOOD}`", NEAR),
    Case("end of turn", Proposal, f"{GOOD}<|im_end|>", NEAR),
    Case("channels", Proposal, f"<|channel|>analysis<|message|>near<|end|><|channel|>final<|message|>{GOOD}", NEAR),
    # Fences.
    Case("fence", Proposal, f"```\n{GOOD}\n```", NEAR),
    Case("json fence", Proposal, f"```json\n{GOOD}\n```", NEAR),
    Case("json5 fence", Proposal, "```json5\n{goal: 'block_1', reason: 'It is near.'}\n```", NEAR),
    Case("tilde fence", Proposal, f"~~~JSON\n{GOOD}\n~~~", NEAR),
    Case("fence never closed", Proposal, f"Here:\n```json\n{GOOD}", NEAR),
    Case("fence never opened", Proposal, f"{GOOD}\n```", NEAR),
    Case("fence on one line", Proposal, f"```json {GOOD}```", NEAR),
    Case("fence in tags", Proposal, f"<answer>\n```json\n{GOOD}\n```\n</answer>", NEAR),
    Case(
        "fence in a string",
        Proposal,
        '{"goal": "a", "reason": "```json\\n{}\\n```"}',
        {"goal": "a", "reason": "```json\n{}\n```"},
    ),
    # Reasoning.
    Case(
        "thought", Proposal, f'<think>block_2 needs three. {{"goal": "block_2", "reason": "?"}}</think>\n{GOOD}', NEAR
    ),
    Case("long tag", Proposal, f"<thinking>\nHm.\n</thinking>\n{GOOD}", NEAR),
    Case("bracket tag", Proposal, f"[THINK]Hm.[/THINK]{GOOD}", NEAR),
    Case("two thoughts", Proposal, f"<think>a</think><reasoning>b</reasoning>{GOOD}", NEAR),
    Case(
        "thought begun in the prompt", Proposal, f'So {{"goal": "b", "reason": "?"}} or not.\n</think>\n\n{GOOD}', NEAR
    ),
    Case("thought never closed", Proposal, f"<think>They need two at block_1.\n\n{GOOD}", NEAR),
    Case("empty thought", Proposal, f"<think>\n\n</think>\n\n{GOOD}", NEAR),
    Case("reasoning in words", Proposal, f"Reasoning: block_1 is near.\nFinal answer: {GOOD}", NEAR),
    Case("only a thought", Proposal, f"<think>I should say {GOOD}</think>", "empty"),
    Case("only a thought, in capitals", Proposal, f"<THINK>I should say {GOOD}</THINK>", "empty"),
    Case("thought after the answer", Proposal, f"{GOOD}<think>That is good.</think>", NEAR),
    Case("nothing after a thought begun in the prompt", Proposal, f"So {GOOD} it is.</think>", "empty"),
    Case("cut in thought", Proposal, f"<think>I could say {GOOD} but then", "cut", "length", "token limit"),
    Case(
        "tags in a string",
        Proposal,
        'So: {"goal": "a", "reason": "</think> <answer>{}</answer>"} ok',
        {"goal": "a", "reason": "</think> <answer>{}</answer>"},
    ),
    # Several objects: the last complete one that fits.
    Case("corrected", Proposal, f'{{"goal": "block_9", "reason": "Big."}}\nWait, too far.\n{GOOD}', NEAR),
    Case("followed by another kind", Proposal, f'{GOOD}\n{{"confidence": 0.9}}', NEAR),
    Case("followed by half of one", Proposal, f'{GOOD}\n{{"goal": "block_2", "rea', NEAR),
    Case("tagged goes before", Proposal, f'<answer>{GOOD}</answer> Not: {{"goal": "block_2", "reason": "Far."}}', NEAR),
    Case("echo of the schema", Proposal, f'{{"type": "object", "required": ["goal", "reason"]}}\n{GOOD}', NEAR),
    Case("lines", Proposal, f'{{"step": 1}}\n{{"step": 2}}\n{GOOD}', NEAR),
    # Almost JSON.
    Case("trailing comma", Proposal, '{"goal": "block_1", "reason": "It is near.",}', NEAR),
    Case("trailing comma in a list", PlanAnswer, PLAN.replace('"]', '",\n]'), PUSH),
    Case("python", Commitment, "{'reasoning': 'All is staffed.', 'goal': None}", WAIT),
    Case(
        "python, both quotes",
        Proposal,
        "{'goal': 'block_1', 'reason': \"It's near.\"}",
        {"goal": "block_1", "reason": "It's near."},
    ),
    Case("keys without quotes", Proposal, '{goal: "block_1", reason: "It is near."}', NEAR),
    Case("line comment", Proposal, '{\n"goal": "block_1", // the small one\n"reason": "It is near."\n}', NEAR),
    Case("block comment", Proposal, '{"goal": /* id: {1} */ "block_1", "reason": "It is near." /* or not */}', NEAR),
    Case("hash comment", Proposal, '{"goal": "block_1",  # nearest\n"reason": "It is near."}', NEAR),
    Case(
        "curly quotes",
        Proposal,
        "{\u201cgoal\u201d: \u201cblock_1\u201d, \u201creason\u201d: \u201cIt is near.\u201d}",
        NEAR,
    ),
    Case(
        "curly single quotes",
        Proposal,
        "{\u2018goal\u2019: \u2018block_1\u2019, \u2018reason\u2019: \u2018It\u2019s near.\u2019}",
        {"goal": "block_1", "reason": "It\u2019s near."},
    ),
    Case(
        "low quotes",
        Proposal,
        "{\u201egoal\u201c: \u201eblock_1\u201c, \u201ereason\u201c: \u201eIt is near.\u201c}",
        NEAR,
    ),
    Case(
        "line break in a string",
        Proposal,
        '{"goal": "block_1", "reason": "It\nis near."}',
        {"goal": "block_1", "reason": "It\nis near."},
    ),
    Case("escaped line break", Proposal, '{"goal": "block_1", "reason": "It is \\\nnear."}', NEAR),
    Case("escaped underscore", Proposal, '{"goal": "block\\_1", "reason": "It is near."}', NEAR),
    Case(
        "escaped apostrophe",
        Proposal,
        '{"goal": "block_1", "reason": "It\\\'s near."}',
        {"goal": "block_1", "reason": "It's near."},
    ),
    Case(
        "quotes in prose",
        Proposal,
        '{"goal": "block_1", "reason": "I said "near", so "near" it is"}',
        {"goal": "block_1", "reason": 'I said "near", so "near" it is'},
    ),
    Case(
        "quotes at the end of prose",
        Remark,
        '{"text": "I say "yes"", "goal": "block_1"}',
        {"text": 'I say "yes"', "goal": "block_1"},
    ),
    Case(
        "apostrophe in single quotes",
        Proposal,
        "{'goal': 'block_1', 'reason': 'it's near'}",
        {"goal": "block_1", "reason": "it's near"},
    ),
    Case(
        "a quoted object in prose",
        Remark,
        '{"text": "use {"a"} now", "goal": "b"}',
        {"text": 'use {"a"} now', "goal": "b"},
    ),
    Case("byte order mark", Proposal, "\ufeff" + GOOD, NEAR),
    Case("hard spaces", Proposal, GOOD.replace(": ", ":\u00a0").replace(", ", ",\u200b\u2003"), NEAR),
    Case("null bytes", Proposal, f"\x00{GOOD}\x00", NEAR),
    Case("double braces", Proposal, f"{{{GOOD}}}", NEAR),
    Case("same key twice", Proposal, '{"goal": "block_9", "goal": "block_1", "reason": "It is near."}', NEAR),
    # Wrapped.
    Case("in answer", Proposal, f'{{"answer": {GOOD}}}', NEAR),
    Case("in its name", Proposal, f'{{"Proposal": {GOOD}}}', NEAR),
    Case("beside thoughts", Proposal, f'{{"thoughts": "It is near.", "response": {GOOD}}}', NEAR),
    Case("in a list", Proposal, f"[{GOOD}]", NEAR),
    Case("in a list in an object", Proposal, f'{{"answers": [{GOOD}]}}', NEAR),
    Case("in properties", Proposal, f'{{"type": "object", "properties": {GOOD}}}', NEAR),
    Case("in a string", Proposal, '"{\\"goal\\": \\"block_1\\", \\"reason\\": \\"It is near.\\"}"', NEAR),
    Case("tool call", Proposal, f'<tool_call>\n{{"name": "Proposal", "arguments": {GOOD}}}\n</tool_call>', NEAR),
    Case(
        "tool call, text",
        Proposal,
        '{"name": "f", "arguments": "{\\"goal\\": \\"block_1\\", \\"reason\\": \\"It is near.\\"}"}',
        NEAR,
    ),
    Case("tool calls", Proposal, f'[TOOL_CALLS][{{"name": "Proposal", "arguments": {GOOD}}}]', NEAR),
    Case("function", Proposal, f'{{"type": "function", "function": {{"name": "f", "parameters": {GOOD}}}}}', NEAR),
    Case(
        "half a pair in a tool call",
        Proposal,
        'Call: {"arguments": "{\\"goal\\": \\"a\\", \\"reason\\": \\"\\ud83d\\"}"}',
        {"goal": "a", "reason": "\ufffd"},
    ),
    Case("wrapped too deep", Proposal, f'{{"a": {{"a": {{"a": {{"a": {GOOD}}}}}}}}}', "schema"),
    Case(
        "inside a field",
        Proposal,
        f'{{"goal": {GOOD}, "reason": "near"}}',
        "schema",
        hint="goal: expected a valid string",
    ),
    Case("wrapper never closed", Proposal, f'{{"answer": {GOOD}', NEAR),
    # Texts that are too long or odd; ids and actions stay as they are.
    Case(
        "long reason", Proposal, f'{{"goal": "a", "reason": "{"x" * 700}"}}', {"goal": "a", "reason": "x" * 599 + "…"}
    ),
    Case("long remark", Remark, f'{{"text": "{"é" * 601}", "goal": null}}', {"text": "é" * 599 + "…", "goal": None}),
    Case(
        "long reflection",
        Revision,
        f'{{"actions": [], "reflection": "{"y" * 401}"}}',
        {"actions": (), "reason": "", "reflection": "y" * 399 + "…"},
    ),
    Case(
        "reason of full length",
        Proposal,
        f'{{"goal": "a", "reason": "{"x" * 600}"}}',
        {"goal": "a", "reason": "x" * 600},
    ),
    Case(
        "half a pair in prose", Proposal, '{"goal": "a", "reason": "ok \\ud83d"}', {"goal": "a", "reason": "ok \ufffd"}
    ),
    Case(
        "a pair", Proposal, 'So {"goal": "a", "reason": "ok \\ud83d\\ude00"}', {"goal": "a", "reason": "ok \U0001f600"}
    ),
    Case(
        "escape codes in prose",
        Proposal,
        '{"goal": "a", "reason": "\\u001b[2Jok\\u0000"}',
        {"goal": "a", "reason": " [2Jok "},
    ),
    Case("id with spaces", Proposal, '{"goal": " block_1 ", "reason": ""}', {"goal": " block_1 ", "reason": ""}),
    Case(
        "id with a curly quote",
        Proposal,
        '{"goal": "block\u201d1", "reason": ""}',
        {"goal": "block\u201d1", "reason": ""},
    ),
    Case(
        "half a pair in an id",
        Proposal,
        '{"goal": "a\\ud83d", "reason": ""}',
        "schema",
        hint="goal: expected text without control",
    ),
    Case(
        "escape code in an action",
        PlanAnswer,
        '{"actions": ["idle(1)", "\\u001b[2J"]}',
        "schema",
        hint="actions[1]: expected text without control",
    ),
    Case(
        "endless id",
        Proposal,
        f'{{"goal": "{"a" * 1001}", "reason": ""}}',
        "schema",
        hint="goal: expected at most 1000 characters",
    ),
    # Another form.
    Case("missing", Proposal, '{"goal": "block_1"}', "schema", hint="reason: missing"),
    Case(
        "number for an id",
        Proposal,
        '{"goal": 1, "reason": "near"}',
        "schema",
        hint="goal: expected a valid string, got the number 1",
    ),
    Case(
        "object for an id",
        Proposal,
        '{"goal": {"id": "block_1"}, "reason": "near"}',
        "schema",
        hint="goal: expected a valid string, got an object",
    ),
    Case(
        "one field too many",
        Proposal,
        GOOD.replace("{", '{"sure": true, '),
        "schema",
        hint="sure: no field of the answer; the fields are reasoning, goal, reason",
    ),
    Case(
        "null where none may be",
        Proposal,
        '{"goal": "block_0", "reason": null}',
        "schema",
        hint="reason: expected a valid string, got null",
    ),
    Case(
        "not a number",
        Proposal,
        '{"goal": NaN, "reason": "near"}',
        "schema",
        hint="goal: expected a valid string, got a number out of range",
    ),
    Case(
        "plan as one text",
        PlanAnswer,
        '{"actions": "idle(1); idle(2)"}',
        "schema",
        hint="actions: expected a valid list, got 'idle(1); idle(2)'",
    ),
    Case(
        "actions as objects",
        PlanAnswer,
        '{"actions": [{"action": "idle", "args": [2]}]}',
        "schema",
        hint="actions[0]: expected a valid string, got an object",
    ),
    Case(
        "actions as a bare list",
        PlanAnswer,
        '```json\n["idle(1)", "idle(2)"]\n```',
        "schema",
        hint="expected a JSON object, got a list of 2",
    ),
    Case("only the id", Proposal, '"block_1"', "schema", hint="expected a JSON object, got 'block_1'"),
    Case("only null", Commitment, "null", "schema", hint="expected a JSON object, got null"),
    Case("empty object", Proposal, "{}", "schema", hint="goal: missing; reason: missing"),
    Case("another object", TargetedPlan, '{"plan": ["idle(1)"]}', "schema", hint="plan: no field of the answer"),
    Case(
        "schema for an answer",
        Proposal,
        '{"type": "object", "properties": {"goal": {"type": "string"}, "reason": {"type": "string"}}}',
        "schema",
        hint="goal: expected a valid string, got an object",
    ),
    # No JSON.
    Case("nothing", Proposal, "", "empty"),
    Case("blank", Proposal, " \n\t\u200b\ufeff\u00a0", "empty"),
    Case("empty fence", Proposal, "```json\n```", "empty"),
    Case("empty tags", Proposal, "<answer></answer>", "empty", hint="between <answer> and </answer>"),
    Case("prose", Proposal, "I would take block_1 because it is near.", "json", hint="no JSON object"),
    Case("declined in words", Proposal, "I'm sorry, but I can't help with that.", "json"),
    Case("fields in tags", Proposal, "<goal>block_1</goal><reason>near</reason>", "json"),
    Case("yaml", Proposal, "goal: block_1\nreason: It is near.", "json"),
    Case("no braces", Proposal, '"goal": "block_1", "reason": "It is near."', "json"),
    Case("call", Proposal, "Proposal(goal='block_1', reason='It is near.')", "json"),
    Case("not closed", Proposal, '{"goal": "block_1", "reason": "It is near."', "json", hint="not complete"),
    Case("string not closed", Proposal, '{"goal": "block_1", "reason": "It is', "json", hint="not complete"),
    Case("half a plan", PlanAnswer, '{"actions": ["idle(1)", "push_block(<block', "json", hint="not complete"),
    Case("value without quotes", Proposal, "{goal: block_1, reason: near}", "json"),
    Case(
        "missing comma",
        Proposal,
        'Take {this}: {"goal": "block_1" "reason": "near"}',
        "json",
        hint="""cannot be read from '"reason": "near"}' on""",
    ),
    Case("word not finished", Commitment, '{"goal": nu', "json", hint="not complete"),
    Case("missing comma after prose", Remark, '{"text": "near" "goal": "block_1"}', "json"),
    Case("quotes in an id", Proposal, '{"goal": "the "small" one", "reason": "near"}', "json"),
    Case("dots", PlanAnswer, '{"actions": ["idle(1)", ...]}', "json"),
    Case("hash in quotes in prose", Remark, '{"text": "the "#1" block"\n}', "json"),
    Case("comment in doubt", Remark, '{"text": "he said "a" // "b"\n}', "json"),
    # Cut and refused.
    Case("cut", Proposal, '{"goal": "block_1", "reason": "It is', "cut", "length", "token limit"),
    Case("cut before it began", Proposal, "Let us consider the blocks one by one. First,", "cut", "length"),
    Case("cut, nothing", Proposal, "", "cut", "length"),
    Case("cut after it was complete", Proposal, f"{GOOD}\nThis is because", NEAR, "length"),
    Case("cut in the correction", Proposal, f'{GOOD} No, better: {{"goal": "blo', "cut", "length"),
    Case("refused", Proposal, "", "refused", "refused"),
    Case("refused in the middle", Proposal, GOOD, "refused", "refused"),
]
