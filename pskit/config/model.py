"""The whole config: layers, rules between sections, fingerprint, and writing as TOML."""

import hashlib
import json
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from pskit.config.app import AppConfig
from pskit.config.base import LARGEST_CLUSTER, Section, broken_rule, not_one_of
from pskit.config.explain import Origin, explain, plain
from pskit.config.presets import DEFAULT_PRESET, PRESETS, Tree, overlay
from pskit.config.ps import PsConfig
from pskit.config.sections import ClusterConfig, ComputeConfig, NetworkConfig, RunConfig
from pskit.config.timing import MEASURED
from pskit.config.toml import dump_toml
from pskit.core.policies import policy_class
from pskit.errors import wrong_argument


class Config(Section):
    """Everything the result of a run depends on.

    ``Config(app={"name": "mf"}, ps={"slack": 4})`` takes the keys of the TOML file as nested dicts, times and
    rates as text with units; what is not given (or None) comes from the preset and the defaults. Attributes
    hold integers: times in ns, rates in bytes per second.

    Raises
    ------
    InputError
        A key, a value or a combination that is not allowed.
    """

    preset: Annotated[str, Field(description="a set of timings and sizes, over which all other keys win")]
    app: AppConfig = AppConfig()
    ps: PsConfig = PsConfig()
    cluster: ClusterConfig = ClusterConfig()
    compute: ComputeConfig
    network: NetworkConfig
    run: RunConfig = RunConfig()

    def __init__(self, *files: Any, **given: Any) -> None:
        if files:
            raise wrong_argument(
                "Config(...)",
                "sections by name, Config(app={...}, ps={...}); load_config(FILE) reads a file, "
                "Config(**TABLES) takes a dict of them",
                files[0],
            )
        self._fill(given, Origin("Config(...)"))

    @classmethod
    def from_tree(cls, given: Tree, origin: Origin) -> Self:
        """Make a config of nested tables; errors name the source that `origin` knows for each key."""
        config = cls.__new__(cls)
        config._fill(given, origin)
        return config

    def _fill(self, given: Tree, origin: Origin) -> None:
        tree = plain(given, origin)
        preset = tree.get("preset")
        base = PRESETS.get(preset if isinstance(preset, str) else "", PRESETS[DEFAULT_PRESET])
        tree = overlay({"preset": DEFAULT_PRESET, **base}, tree)
        try:
            self.__pydantic_validator__.validate_python(tree, self_instance=self)
        except ValidationError as error:
            raise explain(error, type(self), origin) from None

    @field_validator("preset")
    @classmethod
    def _known_preset(cls, preset: str) -> str:
        if preset not in PRESETS:
            raise not_one_of("preset", list(PRESETS))
        return preset

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        if self.workers > LARGEST_CLUSTER:
            message = f"clients * threads = {self.workers} workers; at most {LARGEST_CLUSTER} are allowed"
            raise broken_rule(message, "cluster", "clients")
        if self.compute.model == MEASURED and self.run.runtime != "live":
            message = (
                "in virtual time the real time of a kernel has no meaning, and no run can be repeated; name "
                'a distribution, or choose runtime = "live"'
            )
            raise broken_rule(message, "compute", "model")
        for key in ("stragglers", "pauses"):
            for place, entry in enumerate(getattr(self.compute, key)):
                if entry.worker >= self.workers:
                    message = f"there is no such worker; the cluster has workers 0 to {self.workers - 1}"
                    raise broken_rule(message, "compute", key, place, "worker")
        sizes = {"client": self.cluster.clients, "shard": self.ps.shards}
        for place, link in enumerate(self.network.links):
            for key in ("src", "dst"):
                kind, _, number = getattr(link, key).partition(":")
                if number != "*" and int(number) >= sizes[kind]:
                    message = f"there is no such {kind}; they are numbered 0 to {sizes[kind] - 1}"
                    raise broken_rule(message, "network", "links", place, key)
        return self

    @model_validator(mode="after")
    def _staleness_can_be_shaped(self) -> Self:
        """Ages are what latencies make of them only where nothing else makes any."""
        wanted, network, compute = self.network.staleness, self.network, self.compute
        if wanted is None:
            return self
        latency = network.latency.floor + (network.latency.mean or 0)
        rules = (
            (self.ps.slack is not None, "a policy that has a slack (essp)", ("ps", "policy")),
            (policy_class(self.ps.policy).subscribes, "a policy that pushes (essp)", ("ps", "policy")),
            ((self.ps.slack or 0) >= wanted.largest, f"a slack of {wanted.largest} or more", ("ps", "slack")),
            (self.ps.cache_rows == 0, "a cache for all rows (0)", ("ps", "cache_rows")),
            (self.cluster.threads == 1, "one worker per client", ("cluster", "threads")),
            (self.cluster.placement == "separate", 'placement "separate"', ("cluster", "placement")),
            (compute.model == "constant", 'the compute model "constant"', ("compute", "model")),
            (compute.per_item == 0, "no time per item", ("compute", "per_item")),
            (not compute.stragglers, "no stragglers", ("compute", "stragglers")),
            (not compute.pauses, "no pauses", ("compute", "pauses")),
            (
                network.latency.model == "constant",
                'the latency model "constant"',
                ("network", "latency", "model"),
            ),
            (
                0 < 2 * latency < compute.floor + (compute.mean or 0),
                "a latency above 0 and below half a clock's compute time",
                ("network", "latency", "mean"),
            ),
            (network.bandwidth is None, 'bandwidth "unlimited"', ("network", "bandwidth")),
            (not (network.loss or network.reorder), "neither loss nor reordering", ("network", "loss")),
            (not network.links, "no exceptions for single links", ("network", "links")),
        )
        for kept, what, path in rules:
            if not kept:
                raise broken_rule(f"shaped staleness (network.staleness) needs {what}", *path)
        return self

    @property
    def workers(self) -> int:
        """P, the number of workers."""
        return self.cluster.clients * self.cluster.threads

    def to_dict(self) -> Tree:
        """Return all keys, the preset expanded, times and rates as text; ``Config(**it)`` is equal."""
        tree: Tree = plain(self.model_dump(mode="json"))
        return tree

    def to_toml(self) -> str:
        """Return all keys as TOML text, which `load_config` reads as an equal config."""
        return dump_toml(self.to_dict())

    def fingerprint(self) -> str:
        """Return the sha256 (64 hex digits) of all that the stored result depends on.

        Equal for equal meaning: "1s" and "1000ms", or a preset and its keys written out.
        """
        tree = {key: value for key, value in self.to_dict().items() if key != "preset"}
        text = json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()
