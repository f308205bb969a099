"""What a client asks for, and what it forgets."""

from pskit.core.client import Client
from pskit.core.server import ServerShard
from tests.explore.mutants.systems import APART, ESSP0, EVICTING, EVICTING_THREADS, SSP_THREADS, TINY_CACHE
from tests.explore.mutation import Edit, Mutant

REQUESTS = [
    Mutant(
        "share with any need",
        "a worker shares an outstanding request only if its need is equal",
        (Edit(Client, "_ask", "if other_need == need", "if True"),),
        APART,
    ),
    Mutant(
        "share with a higher need",
        "a worker shares an outstanding request only if its need is equal",
        (Edit(Client, "_ask", "other_need == need", "other_need >= need"),),
        APART,
    ),
    Mutant(
        "share with a lower need",
        "a worker shares an outstanding request only if its need is equal",
        (Edit(Client, "_ask", "other_need == need", "other_need <= need"),),
        APART,
    ),
    Mutant(
        "ask for what will be pushed",
        "a subscribed copy that is too old waits for the push",
        (Edit(Client, "get", "if self.policy.subscribes:", "if False:"),),
        ESSP0,
    ),
    Mutant(
        "install only what is waited for",
        "every reply is installed, also when nobody waits for it any more",
        (
            Edit(
                Client,
                "receive",
                "self.cache.install_reply(message)",
                "any(s.waiter is not None for s in self.workers.values())"
                " and self.cache.install_reply(message)",
            ),
        ),
        EVICTING_THREADS,
    ),
    Mutant(
        "wake one waiter only",
        "a reply wakes every waiter it satisfies",
        (
            Edit(
                Client,
                "receive",
                "effects.append(self._read(state, waiter))",
                "effects.append(self._read(state, waiter))\n            break",
            ),
        ),
        SSP_THREADS,
    ),
]

EVICTIONS = [
    Mutant(
        "unsubscribe although a request is outstanding",
        "eviction unsubscribes, unless a request of this client for that row is outstanding",
        (Edit(Client, "_evict", "rows[self.asked[rows] == 0]", "rows"),),
        EVICTING_THREADS,
    ),
    Mutant(
        "forget who waits for an evicted row's push",
        "if a row is evicted while a worker waits for its push, its request is sent at once",
        (Edit(Client, "_evict", "self._ask(state.worker, orphans", "self._ask(state.worker, orphans[:0]"),),
        EVICTING,
    ),
    Mutant(
        "ask before the unsubscribe",
        "that request is sent after the unsubscribe",
        (
            Edit(
                Client,
                "_evict",
                "    for state in self.workers.values():",
                "    unsubscribes = self._effects[:]\n    for state in self.workers.values():",
            ),
            Edit(
                Client,
                "_evict",
                "self._ask(state.worker, orphans, state.waiter.need)",
                "self._ask(state.worker, orphans, state.waiter.need)\n"
                "    self._effects[:] = self._effects[len(unsubscribes):] + unsubscribes",
            ),
        ),
        EVICTING,
    ),
    Mutant(
        "never unsubscribe",
        "eviction unsubscribes",
        (Edit(Client, "_evict", "self._effects.append(ToShard(shard, Unsubscribe(gone)))", "pass"),),
        EVICTING,
    ),
    Mutant(
        "ignore an unsubscribe",
        "an evicted row is pushed no more",
        (Edit(ServerShard, "_on_unsubscribe", "mask[local] = False", "pass"),),
        EVICTING,
    ),
    Mutant(
        "evict before waking the waiters",
        "a fetched row goes straight to its waiter, so any capacity works",
        (
            Edit(
                Client,
                "receive",
                "    for state in self.workers.values():",
                "    if self.cache.capacity and self.cache.count > self.cache.capacity:\n"
                "        self._evict(self.cache.evict())\n"
                "    for state in self.workers.values():",
            ),
        ),
        TINY_CACHE,
    ),
    Mutant(
        "subscribe at the request",
        "a subscription begins at the reply",
        (
            Edit(
                ServerShard,
                "_on_request",
                "if self.clock",
                "if self.policy.subscribes:\n"
                "        local = request.rows // self.layout.shards\n"
                "        mask = self.subscribed[client]\n"
                "        self.subscriptions[client] += len(local) - int(np.count_nonzero(mask[local]))\n"
                "        mask[local] = True\n"
                "    if self.clock",
            ),
        ),
        EVICTING,
    ),
]
