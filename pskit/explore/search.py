"""Breadth-first search through all states of a system."""

from array import array

from pskit.explore.channels import Channels
from pskit.explore.links import Queues
from pskit.explore.machines import Failure, Machines
from pskit.explore.sides import Side, Sides
from pskit.explore.symmetry import renamings
from pskit.explore.system import System

State = tuple[int, ...]


class Space:
    """The graph of all states: sides of the clients, then states of the shards, all as numbers."""

    def __init__(self, system: System, symmetry: bool=True) -> None:
        self.system = system
        self.machines = Machines(system)
        self.sides = Sides(self.machines, Channels() if system.lossy else Queues())
        C, S = system.clients, system.shards
        quiet = (0,) * S
        first = self.machines.start
        self.start: State = (*(self.sides.number(Side(c, quiet, quiet)) for c in first[:C]), *first[C:])
        self._renamings = list(renamings(system)) if symmetry else []
        self._images = {}
        self._memo = {}
        self._olds = [(tuple(r.old_clients.tolist()), tuple(r.old_shards.tolist())) for r in self._renamings]
        self._grouped = {}
        self._rest = {}
        self._pairs = {}
        self._busy = {}
        self._quiet = {}

    def successors(self, state: State):
        C = self.system.clients
        locals_, upwards = self.sides.locals, self.sides.upwards
        out = []
        for c in range(C):
            before, after = state[:c], state[c + 1 :]
            for what, side in locals_(state[c]):
                out.append(side if type(side) is Failure else (*before, side, *after))
        for c in range(C):
            for j, what, side, messages in upwards(state[c]):
                shard = state[C + j]
                got = self._grouped.get((shard, messages))
                if got is None:
                    got = self._grouped[shard, messages] = self._deliver(shard, messages)
                if type(got) is Failure:
                    out.append(got)
                    continue
                shard, sends = got
                new = list(state)
                new[c] = side
                new[C + j] = shard
                for client, ms in sends:
                    new[client] = self.sides.receive(new[client], j, ms)
                out.append(tuple(new))
        return out

    def _deliver(self, shard, messages):
        sends = {}
        for m in messages:
            got = self.machines.deliver(shard, m)
            if type(got) is Failure:
                return got
            shard = got.state
            for client, msg in got.sends:
                sends.setdefault(client, []).append(msg)
        return shard, tuple((c, tuple(ms)) for c, ms in sends.items())

    def wrong(self, state):
        C = self.system.clients
        busy = False
        for c in range(C):
            side = state[c]
            q = self._quiet.get(side)
            if q is None:
                q = self._quiet[side] = (self.sides.is_busy(side), tuple(C+j for j in self.sides.quiet_shards(side)))
            b, quiet = q
            busy |= b
            for j in quiet:
                key = (side, state[j])
                if key not in self._pairs:
                    self._pairs[key] = self.machines.check_pair(self.sides.sides[side].client, state[j])
                if self._pairs[key]:
                    return self._pairs[key]
        if not busy:
            return self.machines.check_rest((*(self.sides.sides[s].client for s in state[:C]), *state[C:]))

    def canonical(self, state):
        C = self.system.clients
        images = self._images
        best = state
        sides = []
        for x in state[:C]:
            im = images.get(x)
            if im is None:
                im = images[x] = [self._side(r, x) for r in self._renamings]
            sides.append(im)
        shards = []
        for x in state[C:]:
            im = images.get(~x)
            if im is None:
                im = images[~x] = [self.machines.rename_state(r, x) for r in self._renamings]
            shards.append(im)
        for i, (oc, os) in enumerate(self._olds):
            other = (*[sides[c][i] for c in oc], *[shards[j][i] for j in os])
            if other < best:
                best = other
        return best

    def _side(self, r, number):
        client, up, down = self.sides.sides[number]
        memo = self._memo.setdefault(id(r), ({}, {}, {}))
        def f(m):
            if m not in memo[0]:
                memo[0][m] = self.machines.rename_message(r, m)
            return memo[0][m]
        def g(q):
            if q not in memo[1]:
                memo[1][q] = self.sides.links.rename(q, f)
            return memo[1][q]
        def h(q):
            if q not in memo[2]:
                memo[2][q] = self.machines.rename_state(r, q)
            return memo[2][q]
        up = tuple(g(up[j]) for j in r.old_shards)
        down = tuple(g(down[j]) for j in r.old_shards)
        return self.sides.number(Side(h(client), up, down))

    def run(self, max_states=10**9):
        seen = {self.start}
        parents = array("i", [-1])
        how = array("H", [0])
        frontier = [self.start]
        canonical = self.canonical if self._renamings else (lambda x: x)
        transitions = depth = index = 0
        while frontier:
            nxt = []
            for state in frontier:
                bad = self.wrong(state)
                if bad:
                    return len(seen), transitions, depth, bad
                n = 0
                for new in self.successors(state):
                    if type(new) is Failure:
                        return len(seen), transitions, depth, new
                    key = canonical(new)
                    if key not in seen:
                        seen.add(key)
                        parents.append(index)
                        how.append(n)
                        nxt.append(new)
                    n += 1
                transitions += n
                index += 1
            if len(seen) > max_states:
                return len(seen), transitions, depth, "cap"
            frontier = nxt
            depth += 1
        return len(seen), transitions, depth, "ok"
