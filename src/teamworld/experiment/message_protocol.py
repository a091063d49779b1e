"""Which rule the messages of a run follow: that of each method, or one for all that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from teamworld.episode.message_delivery import MessageRule
from teamworld.errors import UserError
from teamworld.experiment.spec import MessageProtocol
from teamworld.methods import registry as methods
from teamworld.methods.registry import option_error
from teamworld.yaml_io import read_none

#: Options of the messages that may stand beside ``native``: what happens to a message on its way is no method's rule.
BESIDE = ("loss",)


def protocol(asked: MessageProtocol | None, options: Mapping[str, Any]) -> MessageProtocol:
    """Return the protocol of a run: the one that is asked for, else that one which the options of messages mean.

    Raises:
        UserError: Options of the messages are given that are each method's own under ``native``.
    """
    own = [name for name in options if name not in BESIDE]
    if asked == "native" and own:
        raise UserError(
            f"--talk native takes each method's own rule: leave out messages.{own[0]}, or take --talk equal (beside "
            f"native only messages.{', messages.'.join(BESIDE)} can be set)"
        )
    return asked or ("equal" if options else "native")


def differ(labels: Iterable[str]) -> bool:
    """Whether more than one rule could apply: some method has a rule of its own."""
    return any(methods.method_class(label).talk for label in labels)


def rule(
    label: str,
    talk: MessageProtocol,
    options: Mapping[str, Any],
    of_methods: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    of_world: Mapping[str, Any] = MappingProxyType({}),
) -> MessageRule:
    """Return the rule that a method's messages follow.

    Args:
        label: The method, or a variant of it.
        talk: The protocol.
        options: Options of the messages.
        of_methods: Options of methods, by label: a method's own rule may depend on them.
        of_world: What the world sets in the place of a method's own price, where a method's messages are paid for.

    Raises:
        UserError: An option does not exist or does not fit.
    """
    method = methods.method_class(label)
    own = dict(method.native_talk(methods.resolve(label, of_methods))) if talk == "native" and method.talk else {}
    if own.get("paid_by", "nobody") != "nobody":
        own |= of_world
    try:
        return MessageRule.model_validate({**own, **read_none(MessageRule, options)})
    except ValidationError as error:
        owner = f"messages, by the native rule of '{label}'" if own else "messages"
        raise UserError(option_error(owner, MessageRule, error)) from None
