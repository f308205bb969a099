"""What the manifest claims of a run, and its hashes."""

from tests.auditing.corruptions.planting import Faults

MANIFEST = Faults()


@MANIFEST.fault("a run in virtual time is said to be live", "manifest facts")
def _(draft):
    draft.manifest["config"]["run"]["runtime"] = "live"


@MANIFEST.fault("the manifest claims another status", "status")
def _(draft):
    draft.manifest["status"] = "diverged"


@MANIFEST.fault("the manifest claims that a diverging loss finished", "status")
def _(draft):
    draft["metrics"]["value"][4] *= 1e6


@MANIFEST.fault("the manifest claims another number of workers", "manifest facts")
def _(draft):
    draft.manifest["workers"] += 1


@MANIFEST.fault("the manifest claims another policy", "manifest facts", "essp")
def _(draft):
    draft.manifest["config"]["ps"]["policy"] = "ssp"


@MANIFEST.fault("the manifest claims a bound that its policy cannot have", "manifest facts", "asp")
def _(draft):
    draft.manifest["config"]["ps"]["slack"] = 3


@MANIFEST.fault("config and layout have different numbers of shards", "manifest facts")
def _(draft):
    draft.manifest["config"]["ps"]["shards"] += 1


@MANIFEST.fault("the manifest claims another seed", "manifest facts")
def _(draft):
    draft.manifest["seed"] += 1


@MANIFEST.fault("a full trace is said to be a sample", "manifest facts")
def _(draft):
    draft.manifest["trace"]["sampling"]["messages"]["share"] = 0.5


@MANIFEST.fault("the fingerprint is no hash", "manifest facts")
def _(draft):
    draft.manifest["fingerprint"] = "0" * 63 + "g"


@MANIFEST.fault("the schedule hash is no hash", "manifest facts")
def _(draft):
    draft.manifest["schedule_hash"] = draft.manifest["schedule_hash"][:-1]


@MANIFEST.fault("the schedule hash is another one", "schedule hash")
def _(draft):
    draft.manifest["schedule_hash"] = draft.manifest["schedule_hash"][::-1]


@MANIFEST.fault("the size of two messages is altered, their sum is not", "schedule hash")
def _(draft):
    m = draft["messages"]
    line = draft.message_where("request", lambda line: m["kind"][line + 1] == m["kind"][line])
    m["bytes"][[line, line + 1]] += (-1, 1)


@MANIFEST.fault("the run is said to end later", "end of the run")
def _(draft):
    draft.manifest["emulated_ns"] += 1


@MANIFEST.fault("the run is said to end earlier", "end of the run")
def _(draft):
    m = draft["metrics"]
    m["t"][-1] = draft.manifest["emulated_ns"] = draft.manifest["emulated_ns"] - 1
