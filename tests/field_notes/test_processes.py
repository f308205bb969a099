"""What processes give back, how many threads they have, and what their memory may be called."""

import pickle

import pytest

import pskit
from tests.field_notes.runs import config, finished

PIPE = 65536
"""Bytes that a pipe holds: who sends more waits for its reader."""


@pytest.mark.field_note(
    39,
    "Only a published run has a name, which is yours; one that is too long for some system is refused with "
    "the config.",
)
def test_a_name_that_some_system_would_not_take_is_refused():
    live = {"runtime": "live", "time_scale": 0.01}
    assert pskit.Config(run={**live, "publish": "a" * 30}).run.publish == "a" * 30
    with pytest.raises(pskit.InputError, match=r"publish is a name .*: 1 to 30 letters"):
        pskit.Config(run={**live, "publish": "a" * 31})


@pytest.mark.field_note(
    44,
    "What a process has recorded is read before its end is awaited, so a trace far larger than a pipe holds "
    "comes whole.",
)
@pytest.mark.field_note(45, "No process is forked from one with threads, and each has one thread for maths.")
@pytest.mark.field_note(
    46, "Compiled kernels have no threads of their own, and no process is forked from one that has run them."
)
def test_processes_with_one_thread_each_give_back_long_traces():
    given = {"cluster": {"clients": 2}, "network": {"latency": {"model": "constant", "mean": "200ms"}}}
    finished(config("Single", clocks=2, **given))  # this process has run kernels, and has its threads
    live = {"runtime": "live", "time_scale": 0.001, "trace": "full"}
    trace = finished(config("Single", clocks=800, options={"single": True}, run=live, **given))
    assert len(pickle.dumps(trace.columns("reads"))) > 2 * 2 * PIPE  # of each of two clients
