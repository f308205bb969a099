"""Whatever an application does wrong ends a run with one message that says where."""

import math
import warnings

import numpy as np
import pytest

from pskit.core.layout import TableSpec
from pskit.errors import AppError, InputError
from pskit.runtime.guard import Guarded
from pskit.runtime.workers import POOL_FROM_COST
from tests.runtime.apps import Scripted
from tests.runtime.simulate import config, ps, simulate


def with_method(name, answer, base=Scripted):
    """An application whose method ``name`` is ``answer(self, argument)``."""

    async def nothing(ps):
        await ps.clock()

    return type("Own", (base,), {name: answer})(nothing)


def run(app, **given):
    return simulate(config("own:Own", **given), app)


def raising(error):
    def method(self, argument):
        raise error

    return method


@pytest.mark.parametrize("error", [ValueError("mine"), SystemExit(0), StopIteration("mine")])
@pytest.mark.parametrize("method", ["init", "work", "objective"])
def test_a_method_that_raises(method, error) -> None:
    with pytest.raises(AppError, match=rf"^application 'own:Own': {method}\(\) failed.*{error}") as caught:
        run(with_method(method, raising(error)))
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("method", ["tables", "describe", "working_bytes"])
def test_a_method_that_raises_before_the_run(method) -> None:
    guarded = Guarded(with_method(method, raising(SystemExit(3))), "own:Own")
    with pytest.raises(AppError, match=rf"{method}\(\) failed: SystemExit: 3"):
        getattr(guarded, method)(config())


def test_without_the_methods_that_may_be_missing() -> None:
    guarded = Guarded(with_method("init", lambda self, ctx: None), "own:Own")
    assert (guarded.describe(config()), guarded.working_bytes(config())) == ("own:Own", 0)
    assert Guarded(guarded, "x").app is guarded.app


@pytest.mark.parametrize("cost", [0, POOL_FROM_COST])
@pytest.mark.parametrize("error", [ValueError("mine"), SystemExit(0)])
def test_a_fault_says_worker_and_clock(error, cost) -> None:
    from concurrent.futures import ThreadPoolExecutor

    async def script(ps):
        for clock in range(4):
            await ps.compute(fail if (ps.worker, clock) == (2, 3) else tuple, cost=cost)
            await ps.clock()

    def fail():
        raise error

    with ThreadPoolExecutor(1) as pool, pytest.raises(AppError) as caught:
        simulate(config("own:Own"), Scripted(script), pool=pool)
    message = f"application 'own:Own': a compute kernel failed, worker 2 at clock 3: {type(error).__name__}"
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("cost", [-1, math.nan, math.inf, -math.inf, "many", None])
def test_a_cost_is_a_number_of_items(cost) -> None:
    async def script(ps):
        await ps.compute(tuple, cost=cost)

    with pytest.raises(
        AppError, match=r"work.. failed, worker 0 at clock 0: (ValueError: the cost|TypeError)"
    ):
        run(Scripted(script))


def test_an_interruption_passes() -> None:
    async def script(ps):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Scripted(script))


@pytest.mark.parametrize("wrong", ["plain", "generator", "async generator"])
def test_work_must_be_a_coroutine(wrong) -> None:
    def plain(self, ps):
        return 3

    def generator(self, ps):
        yield

    async def stream(self, ps):
        yield

    work = {"plain": plain, "generator": generator, "async generator": stream}[wrong]
    with pytest.raises(AppError, match=r"worker 0: it must be a coroutine, `async def.*it gave a"):
        run(with_method("work", work))


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (None, 'must give a dict with the key "loss", got None of type NoneType'),
        (1.0, "got 1.0 of type float"),
        ({}, r"got the keys \[\]"),
        ({"los": 1.0}, r"got the keys \['los'\]"),
        ({"loss": "small"}, "metric 'loss' must be a number, got 'small' of type str"),
        ({"loss": None}, "must be a number"),
        ({"loss": 1j}, "must be a number"),
        ({"loss": np.zeros(2)}, "must be a number"),
        ({"loss": 10**400}, "must be a number|OverflowError"),
        ({"loss": 1.0, 3: 1.0}, "names of metrics are text, got 3"),
    ],
)
def test_what_is_no_objective(metrics, message) -> None:
    with pytest.raises(AppError, match=rf"objective\(\) failed: .*({message})"):
        run(with_method("objective", lambda self, tables: metrics))


@pytest.mark.parametrize("loss", [1, True, np.float32(1), np.int64(1), np.array(1.0)])
def test_what_is_a_number(loss) -> None:
    assert Guarded(with_method("objective", lambda self, tables: {"loss": loss}), "a").objective({}) == {
        "loss": 1.0
    }


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (None, "must give a list of TableSpec, got a NoneType"),
        ("x", "must give a list of TableSpec, got a str"),
        ([], "1 to 255 tables"),
        ([3], "a table is a TableSpec"),
        (["abc"], "a table is a TableSpec"),
        ([("x", 2.5, 1)], "'x': rows and cols are whole numbers, got 2.5 x 1"),
        (TableSpec("x", 1, 1), "must give a list of TableSpec, got a TableSpec"),
        ([TableSpec("x", 10**12, 1)], "at most 2147483647 rows, got 1000000000000"),
        ([(3, 1, 1)], "the name of a table is text"),
    ],
)
def test_tables_that_are_none_are_wrong_input(tables, message) -> None:
    guarded = Guarded(with_method("tables", lambda self, cfg: tables), "own:Own")
    with pytest.raises(InputError, match=f"^application 'own:Own': .*{message}"):
        guarded.layout(config())


def test_a_table_that_cannot_be_made_is_wrong_input() -> None:
    def tables(self, cfg):
        return [TableSpec("x", -1, 1)]

    with pytest.raises(InputError, match=r"^application 'own:Own': table 'x' needs at least one row"):
        Guarded(with_method("tables", tables), "own:Own").layout(config())


async def wrong_shape(ps):
    ps.table("x").inc([0], np.ones((2, 4)))


async def wrong_ids(ps):
    await ps.table("x").get([99])


async def no_such_table(ps):
    ps.table("y")


async def unawaited_delta(ps):
    ps.table("x").inc([0], ps.table("x").get([0]))


async def unawaited_compute(ps):
    ps.table("x").inc([0], ps.compute(tuple, np.ones(3)))


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (wrong_shape, r"INC of 1 rows needs a delta of shape \(n, 1\), got \(2, 4\)"),
        (wrong_ids, r"row ids must lie in 0\.\.2, got 99\.\.99"),
        (no_such_table, r"no table 'y'"),
        (
            unawaited_delta,
            r"an INC adds numbers, got <coroutine .*come by `await`.*Table.get\(\) without `await`",
        ),
        (unawaited_compute, r"an INC adds numbers, got Compute\(.*come by `await`"),
    ],
)
def test_a_wrong_call_is_a_fault_of_the_application(script, message) -> None:
    where = r"^application 'own:Own': work\(\) failed, worker 0 at clock 0: "
    with pytest.raises(AppError, match=where + f".*{message}") as caught:
        run(Scripted(script))
    assert f"test_guard.py, line {script.__code__.co_firstlineno + 1}, in " in str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_initial_values_are_finite(bad) -> None:
    def init(self, ctx):
        ctx.tables["x"][2] = bad

    with pytest.raises(InputError, match=rf"init\(\) gave row 2 of table 'x' the value {bad}; .*be finite"):
        run(with_method("init", init))


def test_a_replaced_table_counts_when_it_fits() -> None:
    def init(self, ctx):
        ctx.tables["x"] = np.full((3, 1), 7.0)

    assert (run(with_method("init", init)).outcome.final["x"] == 7).all()

    def wrong(self, ctx):
        ctx.tables["x"] = np.full(3, 7.0)

    with pytest.raises(AppError, match=r"it replaced ctx\.tables"):
        run(with_method("init", wrong))


def test_giving_up_a_coroutine_hides_no_error() -> None:
    async def script(ps):
        try:
            await ps.clock()
            await ps.compute(tuple, cost=1)
            if ps.worker == 1:
                raise ZeroDivisionError("the real one")
            await ps.compute(tuple, cost=1)
        finally:
            if ps.worker == 2:
                raise LookupError("in passing")

    with pytest.raises(AppError, match="worker 1 at clock 1: ZeroDivisionError: the real one"):
        run(Scripted(script), compute={"model": "constant", "mean": "1s"})


@pytest.mark.parametrize("initial", [0.0, -5.0])
def test_no_multiple_of_a_loss_of_0_or_below_is_a_bound(initial) -> None:
    async def script(ps):
        for _ in range(3):
            await ps.compute(tuple, cost=1)
            ps.table("x").inc([0], [[-1.0]])
            await ps.clock()

    def run_with(loss):
        return run(Scripted(script, loss), ps=ps("ssp", 1)).outcome.status

    assert run_with(lambda tables: initial + 100 * (1 - float(tables["x"][0, 0]))) == "finished"
    assert run_with(lambda tables: initial if tables["x"][0, 0] == 1 else math.nan) == "diverged"


def test_emulated_time_has_an_end() -> None:
    async def script(ps):
        for _ in range(100):
            await ps.table("x").get([0])
            await ps.compute(tuple, cost=1)
            await ps.clock()

    long = {"model": "constant", "mean": "277777h"}
    short = {"model": "constant", "mean": "1s"}
    with pytest.raises(
        InputError, match=r"^a computation of worker 0 at clock 9 would.*292 years.*\[compute\]"
    ):
        run(Scripted(script), compute=long, network={"latency": short}, cluster={"clients": 2})
    slow = {**short, "stragglers": [{"worker": 1, "factor": 1e6}] * 60}
    with pytest.raises(InputError, match="a computation of worker 1 at clock 0 would"):
        run(Scripted(script), compute=slow, network={"latency": short}, cluster={"clients": 2})
    with pytest.raises(
        InputError, match=r"^a message of \d+ bytes on the link from .* to .*292 .*\[network\]"
    ):
        run(Scripted(script), compute=short, network={"latency": long}, ps=ps("bsp"))


def test_just_before_the_end_is_fine() -> None:
    async def script(ps):
        for _ in range(4):
            await ps.compute(tuple, cost=1)
            await ps.clock()

    long = {"model": "constant", "mean": "277777h"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        end = run(Scripted(script), compute=long, network={"latency": {"model": "constant", "mean": "1s"}})
    assert end.outcome.emulated > 4 * 9e17
