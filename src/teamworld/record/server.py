"""A PostgreSQL server that many machines share (extra ``postgres``).

Every statement is a transaction of its own and may be repeated without harm: what is stored has a key. So a statement
whose answer was lost with its connection, because the server was started anew or the network failed, is sent again
until the server answers, and nothing is stored twice.

Passwords are taken out of addresses where these are read, and stay in the memory of this process.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, ParamSpec, Self, TypeVar
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import msgspec

from teamworld.errors import UserError, brief

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from psycopg import Connection

#: The schema of the database in which everything is kept, and the versions that it has had, oldest first.
SCHEMA: Final = "teamworld"
REVISIONS: Final = ("0001",)
_ADDRESS: Final = re.compile(r"postgres(ql)?:/", re.IGNORECASE)
_EXPECTED: Final = (
    "expected postgresql://USER@HOST:PORT/DATABASE; the password may follow USER: as :PASSWORD with its special "
    "characters as %XX, or be in PGPASSWORD or ~/.pgpass"
)
_CONNECT_SECONDS: Final = 10
_SILENT_SECONDS: Final = 30  # until a connection over which nothing comes back is given up
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 2.0  # seconds between tries
#: Seconds to wait for a server that does not answer, as ``--patience``.
PATIENCE: Final = 300.0
#: Class of states in which a server refuses a connection for good: wrong password or role, no such database.
_REFUSALS: Final = ("password", "authentication", "does not exist", "no pg_hba.conf entry", "permission denied")
_passwords: dict[str, str] = {}
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Login(NamedTuple):
    """Where a server is, and what opens it; never written anywhere."""

    address: str
    """Without a password."""
    password: str | None

    def __repr__(self) -> str:
        """Name the address alone."""
        return f"Login({self.address})"


def is_address(text: object) -> bool:
    """Return whether a text is meant to name a PostgreSQL server."""
    return isinstance(text, str) and _ADDRESS.match(text) is not None


def strip_password(text: str) -> str:
    """Return the address of a server without its password, which this process keeps for ``login``.

    Raises:
        UserError: It is no address; the message does not repeat it.
    """
    try:
        parts = urlsplit(text)
        user, at, hosts = parts.netloc.rpartition("@")
        fields = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise UserError(_EXPECTED) from None
    user, _, password = user.partition(":")
    secret = dict(fields).get("password") or unquote(password)
    ports = [part.rpartition(":")[2] for part in hosts.split(",") if ":" in part and not part.endswith("]")]
    is_whole = parts.path.count("/") == 1 and "@" not in parts.path + parts.query and "#" not in text
    if not is_whole or not all(port.isdecimal() for port in ports):
        raise UserError(_EXPECTED)
    shown = "&".join(f"{name}={quote(value, safe='/:,')}" for name, value in fields if name != "password")
    address = f"postgresql://{user}{at}{hosts}{parts.path}" + (f"?{shown}" if shown else "")
    if secret:
        _passwords[address] = secret
    return address


def login(text: str) -> Login:
    """Return how to open a server, with the password that this process knows of; raises ``UserError``."""
    address = strip_password(text)
    return Login(address, _passwords.get(address))


class Server:
    """One connection to a server; brings the tables up to date where they are not there yet, or older.

    Args:
        opened: Where it is.
        what: What is kept there, in words.
        patience: Seconds to wait for a server that does not answer any more. At first it has to answer at once.
        notice: Gets a line when waiting begins.

    Raises:
        UserError: There is no such server or database, it does not let in, or its schema is not of teamworld or of a
            newer one.
    """

    def __init__(
        self,
        opened: Login,
        what: str,
        patience: float = PATIENCE,
        notice: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.address = opened.address
        self._login, self._what, self._patience, self._notice = opened, what, patience, notice
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: ThreadPoolExecutor | None = None
        self._connection: Connection[tuple[Any, ...]] | None = None
        try:
            import psycopg
            import tenacity
        except ImportError:
            raise UserError(f"{self.address} needs the extra postgres: pip install 'teamworld[postgres]'") from None
        self._psycopg, self._tenacity = psycopg, tenacity
        try:
            self._connection = self._connect()
            self._check_schema()
        except psycopg.Error as error:
            self.close()
            raise UserError(self._describe(error)) from None
        except BaseException:
            self.close()
            raise

    def execute(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Carry out one statement that may be repeated, and return its rows.

        Args:
            statement: SQL with ``%s`` for each value.
            values: The values.

        Raises:
            UserError: The server refuses it, or does not answer for longer than ``patience``.
        """
        with self._lock:
            try:
                try:
                    return self._try(statement, values)
                except self._psycopg.OperationalError:  # waiting takes half as long as a statement to set up
                    return self._wait_for(statement, values)
            except self._psycopg.OperationalError as error:
                raise UserError(
                    f"{self.address} did not answer for {self._patience:.0f} s ({_in_a_line(error)}): start it, then "
                    "give the same command again; nothing that was stored is lost"
                ) from None
            except self._psycopg.Error as error:
                raise UserError(self._describe(error)) from None

    async def aside(
        self, work: Callable[Parameters, Result], *values: Parameters.args, **named: Parameters.kwargs
    ) -> Result:
        """Do something with the server in a thread, so that the event loop goes on while it is waited for."""
        import asyncio  # only here: addresses are read by commands that need none of it
        from concurrent.futures import ThreadPoolExecutor

        self._thread = self._thread or ThreadPoolExecutor(1, "teamworld-server")
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(work, *values, **named))

    def close(self) -> None:
        """Let go of the server, and give up waiting for it; closing twice does nothing."""
        self._closed.set()
        if self._thread is not None:
            self._thread.shutdown()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def explain_damage(self, error: msgspec.MsgspecError) -> UserError:
        """Return the error for a row that does not say what it should."""
        return UserError(f"the {self._what} on {self.address} is damaged ({error}): put back a copy of the database")

    def _wait_for(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Send a statement again until it is answered, or ``patience`` or the server's use ends."""
        waiting = self._tenacity.Retrying(
            retry=self._tenacity.retry_if_exception_type(self._psycopg.OperationalError),
            wait=self._tenacity.wait_random_exponential(multiplier=_FIRST_WAIT, max=_LONGEST_WAIT),
            stop=self._tenacity.stop_after_delay(self._patience) | self._tenacity.stop_when_event_set(self._closed),
            sleep=self._tenacity.sleep_using_event(self._closed),
            before_sleep=self._say_waiting,
            reraise=True,
        )
        rows: list[tuple[Any, ...]] = waiting(self._try, statement, values)
        return rows

    def _try(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        if self._connection is None:
            self._connection = self._connect()
        try:
            cursor = self._connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description is not None else []
        except self._psycopg.OperationalError:
            with suppress(self._psycopg.Error):
                self._connection.close()
            self._connection = None
            raise

    def _connect(self, *, autocommit: bool = True) -> Connection[tuple[Any, ...]]:
        return self._psycopg.connect(
            self.address,
            autocommit=autocommit,
            connect_timeout=_CONNECT_SECONDS,
            keepalives_idle=_SILENT_SECONDS,
            tcp_user_timeout=_SILENT_SECONDS * 1000,
            client_encoding="utf8",
            application_name="teamworld",
            password=self._login.password,  # None: as libpq finds it
        )

    def _say_waiting(self, state: Any) -> None:  # noqa: ANN401  (of a package that is imported when it is used)
        if state.attempt_number == 1:
            self._notice(f"{self.address} does not answer; waiting up to {self._patience:.0f} s for it")

    def _check_schema(self) -> None:
        """See that the tables are those of this version, or bring them there."""
        assert self._connection is not None
        held = self._connection.execute(
            b"SELECT to_regnamespace(%s) IS NOT NULL, to_regclass(%s) IS NOT NULL",
            (SCHEMA, f"{SCHEMA}.alembic_version"),
        ).fetchone()
        assert held is not None
        has_schema, has_version = held
        versions: list[str] = []
        if has_version:
            rows = self._connection.execute(f"SELECT version_num FROM {SCHEMA}.alembic_version".encode())
            versions = [str(version) for (version,) in rows]
        if has_schema and not versions:
            raise UserError(
                f"{self.address} has a schema {SCHEMA} that is not of this program: name another database, or drop the "
                "schema if nobody needs it"
            )
        if versions and (len(versions) > 1 or versions[0] not in REVISIONS):
            raise UserError(
                f"{self.address} was brought up to date by a newer teamworld (its schema is {brief(versions[0])}, "
                f"this one knows {REVISIONS[-1]}): upgrade teamworld on this machine"
            )
        if versions != [REVISIONS[-1]]:
            self._migrate()

    def _migrate(self) -> None:
        from sqlalchemy.exc import DBAPIError

        from teamworld.record import migration

        try:
            migration.migrate(partial(self._connect, autocommit=False))
        except DBAPIError as error:
            raise (error.orig if isinstance(error.orig, self._psycopg.Error) else error) from None

    def _describe(self, error: Exception) -> str:
        text = _in_a_line(error)
        if self._connection is None:
            if any(word in text for word in _REFUSALS):
                return f"{self.address} does not let in ({text}): check user, password and database; {_EXPECTED}"
            return f"{self.address} cannot be reached ({text}): start the server, or check the address"
        return f"{self.address} cannot be used for the {self._what} ({text})"


def _in_a_line(error: Exception) -> str:
    """Return the first line of what a server says, which holds no password."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
