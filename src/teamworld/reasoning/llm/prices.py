"""The price of a call: by the user's own prices, else by those published for its model.

The published prices are the data that the installed release of ``genai-prices`` carries; nothing is fetched.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import fsum
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, field_validator

from teamworld import yaml_io
from teamworld.errors import UserError
from teamworld.reasoning.llm.contract import Usage

#: USD per million tokens, by the number of prompt tokens above which it holds; ascending, first 0.
Steps: TypeAlias = tuple[tuple[int, float], ...]

_EXAMPLE = "openai:gpt-4o: {prompt: 2.5, cached: 1.25, output: 10}"


class Rates(NamedTuple):
    """Prices of one model."""

    prompt: Steps
    cached: Steps
    """Of prompt tokens read from the provider's cache."""
    written: Steps
    """Of prompt tokens put into the provider's cache."""
    output: Steps
    """Reasoning included."""

    def price(self, usage: Usage) -> float | None:
        """Return the price of a call in USD, None where the provider did not count its tokens.

        ``((prompt - cached) p_in + cached p_cache + output p_out) / 10^6`` (the output holds the
        reasoning), where the prompt tokens put into a cache are taken out of the first term too if they have a
        price of their own. Where prices step up with the length of a prompt, the whole call is at the step's price.
        """
        if usage.prompt is None or usage.output is None:
            return None
        prompt, output = usage.prompt, usage.output
        cached = min(usage.cached or 0, prompt)
        written = min(usage.written or 0, prompt - cached)
        counts = (prompt - cached - written, cached, written, output)
        return fsum(count * _at(steps, prompt) for count, steps in zip(counts, self, strict=True)) / 1e6


class ShareOf(NamedTuple):
    """Prices of a model that are a share of another's, such as those of a batch service."""

    model: str
    """As ``--reasoner`` names it."""
    share: float


def _at(steps: Steps, prompt: int) -> float:
    return next((price for above, price in reversed(steps) if prompt > above), steps[0][1])


#: Of a model file: nobody sends a bill for what this machine does.
_FREE = Rates(*(((0, 0.0),),) * 4)


class Prices:
    """Prices of models.

    Args:
        own: The user's, by the model as ``--reasoner`` names it, or shares of another model's; they win over published
            ones.
        origin: Where and when the user's are from.
        clock: Seconds since 1970, for prices that change with the date or the time of day.
    """

    def __init__(
        self, own: Mapping[str, Rates | ShareOf] | None = None, origin: str = "", clock: Callable[[], float] = time.time
    ) -> None:
        self._own = own or {}
        self._origin = origin
        self._clock = clock

    @classmethod
    def load(cls, path: Path | None) -> Prices:
        """Return published prices, with those of a file before them if there is one.

        The file is YAML: ``date`` and ``source`` of the prices, and under ``models`` for each model, named as
        ``--reasoner`` names it, the USD per million tokens of ``prompt`` and ``output``, and of ``cached`` and
        ``written`` prompt tokens where these differ from the rest of the prompt; or ``like``, another model, and the
        ``share`` of its price that is paid: 0.5 where a batch service takes half.

        Raises:
            UserError: It cannot be read, or one line on the first thing wrong with it.
        """
        if path is None:
            return cls()
        try:
            file = _File.model_validate(yaml_io.load(path))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = first["loc"][:2] + first["loc"][3:]  # without the form that an entry was taken for
            where = ".".join(map(str, place)) or "the file"
            raise UserError(
                f"{path}: {where}: {first['msg']}, got {str(first['input'])[:60]!r}; expected date, source and models,"
                f" each such as '{_EXAMPLE}'"
            ) from None
        return cls({name: model.rates() for name, model in file.models.items()}, f"{file.source}, {file.date}")

    def price(self, model: str, served: str, usage: Usage) -> float | None:
        """Return the price of a call in USD; None where no price is known or tokens were not counted.

        Args:
            model: As the user named it.
            served: As the provider reported it; it may be empty.
            usage: What the provider counted.
        """
        rates = self._rates(model, served)
        return None if rates is None else rates.price(usage)

    def known(self, model: str) -> bool:
        """Whether there is a price for a model."""
        return self._rates(model, "") is not None

    def table(self) -> str:
        """Return in words where prices come from; the same wherever the same prices are used."""
        return "; ".join(part for part in (self._origin, _release()) if part) or "no prices"

    def _rates(self, model: str, served: str) -> Rates | None:
        if model.startswith("gguf:") and model not in self._own:
            return _FREE
        own = self._own.get(model)
        if not isinstance(own, ShareOf):
            return own or _published(model, served, int(self._clock() // 60))
        whole = None if isinstance(self._own.get(own.model), ShareOf) else self._rates(own.model, "")
        return None if whole is None else Rates(*(_scaled(steps, own.share) for steps in whole))


@lru_cache(maxsize=256)
def _published(model: str, served: str, minute: int) -> Rates | None:
    """Return the prices of a model at a minute since 1970, looked up once: the library takes 0.2 ms for each call."""
    try:
        from genai_prices import Usage as Nothing
        from genai_prices import calc_price
    except ImportError:
        return None
    host, _, name = model.partition("#" if "://" in model else ":")
    place: dict[str, Any] = {"provider_api_url" if "://" in model else "provider_id": host}
    when = datetime.datetime.fromtimestamp(minute * 60, datetime.UTC)
    for candidate in filter(None, (served, name)):
        try:
            price = calc_price(Nothing(), candidate, genai_request_timestamp=when, **place).model_price
        except LookupError:
            continue
        prompt, output = _steps(price.input_mtok), _steps(price.output_mtok)
        if prompt and output:
            return Rates(
                prompt, _steps(price.cache_read_mtok) or prompt, _steps(price.cache_write_mtok) or prompt, output
            )
    return None


def _scaled(steps: Steps, share: float) -> Steps:
    return tuple((above, price * share) for above, price in steps)


def _steps(price: Any) -> Steps:  # noqa: ANN401  (a Decimal or one of the library's own)
    """Return the steps of a price of the library: none, a number, or a base with tiers."""
    if price is None:
        return ()
    tiers = getattr(price, "tiers", ())
    return ((0, float(getattr(price, "base", price))), *((tier.start, float(tier.price)) for tier in tiers))


@lru_cache(maxsize=1)
def _release() -> str:
    """Name the release of the library, and the latest change of a price that it knows of: it carries no date."""
    try:
        from genai_prices import __version__
        from genai_prices.data import providers
    except ImportError:
        return ""
    prices = (price for provider in providers for model in provider.models for price in _dated(model.prices))
    dates = [price.constraint.start_date for price in prices if hasattr(price.constraint, "start_date")]
    return f"genai-prices {__version__}, changes of prices up to {max(dates)}"


def _dated(prices: object) -> list[Any]:
    return prices if isinstance(prices, list) else []


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    prompt: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    written: float | None = Field(default=None, ge=0)
    output: float = Field(ge=0)

    def rates(self) -> Rates:
        """Return the prices, each for prompts of any length."""
        cached, written = (self.prompt if price is None else price for price in (self.cached, self.written))
        return Rates(*(((0, price),) for price in (self.prompt, cached, written, self.output)))


class _Share(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    like: str = Field(pattern=":")
    share: float = Field(gt=0, le=1)

    def rates(self) -> ShareOf:
        """Return whose prices they are a share of."""
        return ShareOf(self.like, self.share)


def _form(data: object) -> str:
    return "share" if isinstance(data, dict) and "like" in data else "prices"


_Entry: TypeAlias = Annotated[Annotated[_Model, Tag("prices")] | Annotated[_Share, Tag("share")], Discriminator(_form)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    date: datetime.date
    source: str = Field(min_length=1)
    models: dict[str, _Entry] = Field(min_length=1)

    @field_validator("models")
    @classmethod
    def _named(cls, models: dict[str, _Entry]) -> dict[str, _Entry]:
        for name in models:
            if ":" not in name:
                raise ValueError(f"'{name}' names no provider: write it as --reasoner does")
        return models
