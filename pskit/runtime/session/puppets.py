"""Workers that do what they are told, one call after the other, between the other workers of a run."""

from collections.abc import Collection, Coroutine, Iterator, Mapping
from typing import Any

from pskit.apps.base import Array, InitContext, Worker
from pskit.core.layout import TableSpec
from pskit.runtime.workers import PAUSE, Pause


class Puppet:
    """Stands for the coroutine of a worker; between two calls it pauses, for as long as its user likes.

    Parameters
    ----------
    ps : Worker
    """

    def __init__(self, ps: Worker) -> None:
        self.ps = ps
        self._call: Coroutine[Any, Any, Any] | None = None
        self._leaving = False
        self._answer: Any = None
        self._error: Exception | None = None

    @property
    def busy(self) -> bool:
        """Whether a call has not returned yet."""
        return self._call is not None

    def take(self, call: Coroutine[Any, Any, Any]) -> None:
        """Do ``call`` when the driver resumes this worker."""
        self._call, self._answer, self._error = call, None, None

    def leave(self) -> None:
        """End when the driver resumes this worker."""
        self._leaving = True

    def drop(self) -> None:
        """Give the call up."""
        if self._call is not None:
            self._call.close()
            self._call = None

    def answer(self) -> Any:
        """What the last call returned; raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._answer

    def send(self, value: Any) -> Any:
        """See `coroutine.send`."""
        if self._leaving:
            raise StopIteration
        if self._call is None:
            return PAUSE
        try:
            return self._call.send(value)
        except StopIteration as end:
            self._answer = end.value
        except Exception as error:
            self._error = error
        self._call = None
        return PAUSE

    def close(self) -> None:
        """See `coroutine.close`."""
        self.drop()

    def __await__(self) -> Iterator[Pause]:
        """Make it look like a coroutine; nobody awaits it."""
        yield PAUSE


class Hosted:
    """An application of whose workers some are in a user's hands.

    Parameters
    ----------
    app : Application
    hands : collection of int
        Ids of these workers.

    Attributes
    ----------
    puppets : dict of int to Puppet
        By worker, once the run has asked for their work.
    """

    def __init__(self, app: Any, hands: Collection[int]) -> None:
        self._app, self._hands = app, hands
        self.puppets: dict[int, Puppet] = {}

    def work(self, ps: Worker) -> Any:
        """See `Application.work`."""
        if ps.worker not in self._hands:
            return self._app.work(ps)
        self.puppets[ps.worker] = Puppet(ps)
        return self.puppets[ps.worker]

    def __getattr__(self, name: str) -> Any:
        """Everything else is the application's."""
        return getattr(self._app, name)


class Bare:
    """An application with the tables of its option ``tables``, zeros at first; it does nothing to them."""

    def tables(self, cfg: Any) -> list[TableSpec]:
        """See `Application.tables`."""
        return [TableSpec(*spec) for spec in cfg.app.options["tables"]]

    def init(self, ctx: InitContext) -> None:
        """Leave the zeros."""

    async def work(self, ps: Worker) -> None:
        """Leave at once."""

    def objective(self, tables: Mapping[str, Array]) -> dict[str, float]:
        """Nothing is to be minimised."""
        return {"loss": 0.0}


BARE = f"{__name__}:{Bare.__name__}"
SECOND = "closes the session"
"""What a second Ctrl-C does."""
