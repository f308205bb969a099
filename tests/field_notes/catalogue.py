"""The kinds of faults that users of other systems met, by number, and tests of them that live elsewhere."""

from typing import NamedTuple

GROUPS: dict[str, range] = {
    "Clocks, barriers, ends": range(1, 11),
    "Consistency and staleness": range(11, 19),
    "Divergence and sizes": range(19, 26),
    "Failures and memory": range(26, 33),
    "Repetition": range(33, 36),
    "Processes and shared memory": range(36, 49),
}

FAULTS: dict[int, str] = {
    1: "The work is done, but shutting down never ends",
    2: "A barrier counts one process only, and all others hang or run through",
    3: "One process that exits takes the servers through the exit barrier with it",
    4: "One worker has one iteration fewer, and synchronous training waits for it for ever",
    5: "Shares of unequal size hang at the last barrier",
    6: "A worker without data fails, or never ends",
    7: "A server that owns no parameters waits for ever",
    8: "A run hangs, and nothing says where",
    9: "A barrier is reused, and somebody passes on its last release",
    10: "The end of the data, met within a round, is an error or a hang",
    11: (
        "Staleness is judged by the slowest clock instead of the reader's; own updates vanish from a stale "
        "cache"
    ),
    12: "Counters per key are taken for the clock of a worker",
    13: "Values of one read come from different versions, unnoticed",
    14: "Bounded delay is not offered, or said to make no difference",
    15: "A clock is refreshed by a timer, so every round waits for it",
    16: "Text and code count staleness differently",
    17: "The asynchronous mode is the untested one; its first update meets a row that is not there",
    18: "Asynchronous training does not converge, and nothing tells why",
    19: "With many asynchronous workers everything becomes NaN",
    20: "Accuracy collapses when one more worker is added",
    21: "n asynchronous workers act like a step n times as large",
    22: (
        "SGD for matrix factorization explodes at its default step, or updates one factor with the new other"
        " one"
    ),
    23: "Counts are negative for a moment, and a logarithm of them is NaN",
    24: "Words that never occur and topics out of range crash the sampler",
    25: "Memory runs out in the middle of a run",
    26: "A dead server hangs everybody",
    27: "A dead worker hangs everybody, a restarted server crashes the workers",
    28: "A death is noticed after a quarter of an hour",
    29: "A busy process is declared dead by its heartbeat",
    30: "A server's memory grows with time",
    31: "Messages above some size fail or time out",
    32: "All cached entries are in use, and eviction hangs",
    33: "Seeded parallel runs differ, because the scheduler decides",
    34: "All seeds are set and results still vary: a generator nobody seeded, or an order nobody fixed",
    35: (
        "An unrelated event moves others of the same time past each other, or something is drawn before "
        "seeding"
    ),
    36: "A process that only attached to a shared segment removes it",
    37: "Warnings of leaked segments, and errors on exit",
    38: "A killed process leaves its segments behind until memory is full",
    39: "Names of segments are too long for one system",
    40: "A small shared-memory file system kills the process at the first touch",
    41: "An array outlives its segment",
    42: "The size of a segment is rounded up, or it vanishes with its last handle",
    43: "A lock is never released again once its holder was killed",
    44: "Joining a process before its queue is empty hangs",
    45: "Threads of a numerical library do not survive a fork",
    46: "Parallel kernels abort in a forked process",
    47: "The start method of processes changed under a program that relied on it",
    48: "Delays in real time are coarse, and drift",
}

LATER: dict[int, str] = dict.fromkeys((23, 24), "not applicable until LDA")
"""Why a fault has no row of its own tests yet."""


class Elsewhere(NamedTuple):
    """Tests outside this folder: node ids, and what happens unless the marked tests here say it."""

    tests: tuple[str, ...]
    happens: str = ""


ELSEWHERE: dict[int, Elsewhere] = {
    1: Elsewhere(("tests/runtime/test_sim_times.py::test_the_run_ends_when_the_last_worker_is_taken_out",)),
    4: Elsewhere(("tests/runtime/test_sim_guarantee.py::test_workers_with_uneven_work",)),
    7: Elsewhere(
        (
            "tests/runtime/test_sim_guarantee.py::test_shards_that_own_no_row",
            "tests/core/test_server.py::test_a_shard_without_rows_counts_clocks",
        ),
        "Every shard gets an oplog per worker and clock, an empty one too, so a shard without rows counts "
        "clocks like any other.",
    ),
    8: Elsewhere(("tests/runtime/test_sim_divergence.py::test_waiting_for_ever_is_said_and_not_endured",)),
    11: Elsewhere(
        (
            "tests/core/test_client.py::test_own_updates_are_in_once_when_a_push_brings_them_back",
            "tests/auditing/test_audit.py::test_a_broken_protocol_is_found",
        )
    ),
    19: Elsewhere(
        ("tests/runtime/test_sim_divergence.py::test_a_non_finite_inc_ends_the_run_and_says_where",)
    ),
    22: Elsewhere(
        (
            "tests/apps/kernels/test_mf.py::test_item_step_uses_the_old_user",
            "tests/apps/kernels/test_mf.py::test_one_step_is_the_gradient_by_finite_differences",
        ),
        "A step uses the old values of both factors and agrees with the gradient by finite differences.",
    ),
    26: Elsewhere(
        (
            "tests/runtime/live/test_faults.py::test_a_killed_server_ends_the_run",
            "tests/runtime/live/test_deaths.py::test_without_the_server_the_run_fails_all_the_same",
        ),
        "A killed server ends the run, which says so; no process and no memory is left.",
    ),
    27: Elsewhere(
        (
            "tests/runtime/live/test_faults.py::test_a_worker_that_is_killed_ends_the_run",
            "tests/runtime/live/test_deaths.py::test_the_others_finish",
            "tests/runtime/live/test_deaths.py::test_the_slowest_dies_and_those_who_waited_for_it_go_on",
        ),
        "A killed worker ends the run, with its clock and what the others waited for; or, with `run.on_death "
        '= "continue"`, it is taken out of every shard and the others finish. Nothing is started again.',
    ),
    28: Elsewhere(
        ("tests/runtime/live/test_faults.py::test_a_process_that_ends_by_itself_ends_the_run",),
        "The launcher waits for the processes themselves, so an end is noticed when it happens, whatever it "
        "was.",
    ),
    29: Elsewhere(
        ("tests/runtime/live/test_faults.py::test_who_is_stopped_for_5_s_goes_on_as_if_nothing_had_been",),
        "There is no heartbeat: a process that was stopped for five seconds goes on as if nothing had been, "
        "and meanwhile it is said who waits for whom.",
    ),
    30: Elsewhere(("tests/core/test_client.py::test_the_log_of_own_updates_stays_short",)),
    32: Elsewhere(
        (
            "tests/runtime/test_sim_guarantee.py::test_a_small_cache_gives_the_same_guarantee",
            "tests/core/test_client.py::test_capacity_one_serves_a_get_of_many_rows",
            "tests/core/test_client.py::test_rows_served_to_a_waiting_get_survive_their_eviction",
        ),
        "Nothing is pinned: a row that arrives goes straight to the reads that wait for it, so a cache of "
        "one row serves any number of workers and rows, and the guarantee is the same.",
    ),
    33: Elsewhere(
        (
            "tests/runtime/test_sim_hashes.py::test_ten_runs_are_equal",
            "tests/runtime/test_sim_hashes.py::test_the_thread_pool_changes_nothing",
            "tests/golden/test_schedules.py::test_golden_hashes",
        ),
        "In virtual time a run is repeated bit for bit, whatever the number of threads is; the hashes of "
        "some schedules are part of the tests.",
    ),
    34: Elsewhere(
        (
            "tests/emulation/test_network.py::test_a_link_does_not_depend_on_the_use_of_others",
            "tests/emulation/test_compute.py::test_workers_and_seeds_differ_and_other_settings_shift_nothing",
        )
    ),
    35: Elsewhere(
        (
            "tests/runtime/test_sim_hashes.py::test_a_no_op_event_changes_nothing",
            "tests/runtime/test_sim_order.py::test_the_order_is_of_the_events_and_not_of_their_creation",
        ),
        "Events of one time are ordered by what they are, not by when they were created, so an event that "
        "does nothing changes no result. A generator cannot be had without its key.",
    ),
    36: Elsewhere(
        (
            "tests/runtime/live/test_viewing.py"
            "::test_a_viewer_sees_whole_rows_and_rising_clocks_and_may_end_in_any_way",
        ),
        "The memory belongs to the run: whoever looks at a published one may end in any way, and it stays.",
    ),
    37: Elsewhere(
        ("tests/runtime/live/test_arena.py::test_a_child_gets_the_same_memory_and_nothing_has_a_name",),
        "The memory of a run has no name unless it is published, so nothing tracks it, warns of it or has "
        "to remove it.",
    ),
    38: Elsewhere(
        (
            "tests/runtime/live/test_faults.py::test_when_the_launcher_is_killed_everything_goes_with_it",
            "tests/runtime/live/test_viewing.py::test_the_name_goes_when_the_launcher_is_killed",
            "tests/runtime/live/test_viewing.py::test_what_a_dead_run_has_left_is_replaced",
            "tests/runtime/live/test_viewing.py::test_the_memory_of_others_is_left_alone",
        ),
        "Processes and memory go with the launcher, also when it is killed, and so does the name of a "
        "published run; what is left all the same is replaced by the next run of this name, and what is not "
        "a run's is left alone.",
    ),
    40: Elsewhere(
        (
            "tests/runtime/live/test_arena.py::test_memory_that_is_not_there_after_all_is_one_clear_message",
            "tests/runtime/live/test_arena.py::test_a_small_shared_folder_is_seen_before_it_kills",
            "tests/runtime/live/test_arena.py::test_a_shared_folder_that_is_full_or_too_small_is_refused",
        ),
        "All memory is claimed before the first process starts; where it is not there, that is one message.",
    ),
    41: Elsewhere(
        ("tests/runtime/live/test_arena.py::test_a_view_may_outlive_the_arena",),
        "An array keeps the memory that it lies in.",
    ),
    42: Elsewhere(
        (
            "tests/runtime/live/test_tables.py::test_places_do_not_overlap",
            "tests/runtime/live/test_viewing.py::test_the_name_goes_with_the_run_and_what_was_attached_stays",
        ),
        "Every array has its place by a layout; what was attached can be read after the run has ended.",
    ),
    43: Elsewhere(
        (
            "tests/runtime/live/test_vap.py::test_the_lock_of_an_arena_goes_with_the_process_that_holds_it",
            "tests/runtime/live/test_vap.py::test_a_killed_client_leaves_nobody_hanging",
        ),
        "Rings and tables have one writer and no lock. The one lock, of VAP's arbiter, goes with the process "
        "that holds it.",
    ),
    47: Elsewhere(
        (
            "tests/runtime/live/test_runs.py::test_where_there_is_no_fork_server_processes_are_spawned",
            "tests/runtime/live/test_faults.py::test_a_script_that_forgets_to_guard_its_main_part_is_told_so",
        ),
        "The start method is always named, and what a script has to do for it is said when it does not.",
    ),
    48: Elsewhere(
        (
            "tests/runtime/live/test_transport.py::test_nothing_is_visible_before_its_latency",
            "tests/runtime/live/test_runs.py::test_nothing_is_early",
            "tests/runtime/live/test_runs.py::test_the_manifest_says_how_faithful_the_run_was",
        ),
        "Everything is due at a time of one clock, so delays do not add up: nothing is early, and what is "
        "late is counted and gives the run its verdict.",
    ),
}
