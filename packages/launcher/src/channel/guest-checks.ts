import { isStage, stages } from "@virtkit/api/timeline";
import {
  type DomainHardware,
  type DomainStats,
  type DomainStatus,
  domainStates,
  type ExecResult,
  type GuestEvent,
  type GuestFileSystem,
  type GuestInterface,
  type GuestOs,
  type GuestUser,
  guestEndKinds,
  type ProbeStatus,
  type RunGrant,
} from "@virtkit/domain-manager";
import {
  anyNumber,
  type Check,
  dictionary,
  fields,
  flag,
  list,
  open,
  text,
  whole,
  word,
} from "./check.ts";

/*
 * Checks for what travels over the channel about a guest. A node agent does not trust a launcher,
 * behind which there may be a guest that broke out: it checks everything before it acts on it.
 */

const name = text(4_096);
const sentence = text(65_536);

export const checkGrant: Check<RunGrant> = fields({
  vmiUid: text(253),
  podUid: text(253),
  epoch: whole(1, Number.MAX_SAFE_INTEGER),
});

const checkInterface: Check<GuestInterface> = open(
  { mac: name, ips: list(name, 10_000) },
  { name, interfaceName: name, queueCount: whole(0, 65_536), linkState: name },
);

const checkHardware: Check<DomainHardware> = open(
  { emulated: flag, acpi: flag },
  { machine: name, memory: open({ value: whole(0, Number.MAX_SAFE_INTEGER), unit: text(16) }) },
);

const checkOs: Check<GuestOs> = open(
  {},
  {
    id: name,
    name,
    prettyName: name,
    version: name,
    versionId: name,
    kernelRelease: name,
    kernelVersion: name,
    machine: name,
  },
);

const checkProbe: Check<ProbeStatus> = open(
  { state: word(["pending", "passing", "failing"], "pending") },
  { message: name },
);

export const checkStatus: Check<DomainStatus> = open(
  {
    name,
    state: word(domainStates, "NoState"),
    reason: name,
    agent: word(["connected", "disconnected"], "disconnected"),
    interfaces: list(checkInterface, 10_000),
    disks: list(open({ volume: name, target: name }), 10_000),
  },
  {
    uuid: name,
    hardware: checkHardware,
    os: checkOs,
    hostname: name,
    timezone: name,
    fsFreeze: word(["frozen", "thawed"]),
    agentVersion: name,
    agentCommands: list(name, 10_000),
    accessCredentials: open({ synced: flag }, { message: sentence }),
    shutdownRequestedAt: name,
    probes: open({}, { readiness: checkProbe, liveness: checkProbe }),
    signalled: flag,
    end: open({ kind: word(guestEndKinds, "Killed"), message: sentence, at: name }),
  },
);

const eventChecks: { [K in GuestEvent["kind"]]: Check<GuestEvent> } = {
  status: open({ at: name, kind: word(["status"]), status: checkStatus }),
  stage: open(
    { at: name, kind: word(["stage"]), stage: word(stages), state: word(["done", "failed"]) },
    { message: sentence },
  ),
  incident: open({
    at: name,
    kind: word(["incident"]),
    reason: word(["IOerror", "GuestPanicked", "GuestAgentPingFailed", "Watchdog"]),
    message: sentence,
  }),
  resync: open({ at: name, kind: word(["resync"]) }),
};

/** An event; undefined for one of a kind, or a stage, that only a newer launcher knows. */
export function checkEvent(value: unknown): GuestEvent | undefined {
  const { kind, stage } = fields({ kind: text(64) }, { stage: text(64) })(value, "event");
  if (kind === "stage" && stage !== undefined && !isStage(stage)) return undefined;
  const check = Object.hasOwn(eventChecks, kind)
    ? eventChecks[kind as GuestEvent["kind"]]
    : undefined;
  return check?.(value, "event");
}

const output = text(32 * 1024 * 1024);

/** A program's output may hold any character. */
const anyOutput: Check<string> = (value, path) =>
  typeof value === "string" ? value : output(value, path);

export const checkExecResult: Check<ExecResult> = open({
  exitCode: anyNumber,
  stdout: anyOutput,
  stderr: anyOutput,
});

export const checkUsers: Check<readonly GuestUser[]> = list(
  open({ userName: name, loginTime: anyNumber }, { domain: name }),
  100_000,
);

export const checkFileSystems: Check<readonly GuestFileSystem[]> = list(
  open({
    diskName: name,
    mountPoint: name,
    fileSystemType: name,
    usedBytes: anyNumber,
    totalBytes: anyNumber,
    disks: list(open({ busType: name }, { serial: name }), 10_000),
  }),
  100_000,
);

export const checkStats: Check<DomainStats> = dictionary((value, path) =>
  typeof value === "number" || typeof value === "boolean" ? value : anyOutput(value, path),
);
