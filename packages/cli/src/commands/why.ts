import { wallTime } from "@virtkit/api/clock";
import { decodeGrant, describeGrant, grantAnnotation } from "@virtkit/api/grant";
import { names } from "@virtkit/api/names";
import type { VirtualMachineInstance, VirtualMachineInstanceMigration } from "@virtkit/api/schema";
import { at, text } from "@virtkit/api/shape";
import {
  firstOpenHandoff,
  type Handoff,
  handoffs,
  isStage,
  stageFacts,
  stages,
  type TimelineEvent,
  type TimelinePod,
  type TraceEntry,
} from "@virtkit/api/timeline";
import { isKubeError } from "@virtkit/kube";
import { readManifests } from "@virtkit/node-agent/manifests";
import { heldGuests } from "../cluster/held-guests.ts";
import { type MigrationStory, migrationStory, migrationText } from "../cluster/migration-story.ts";
import { complaint } from "../complaint.ts";
import { type Io, writeAll } from "../io.ts";
import { findVmi } from "../local/find-vmi.ts";
import { stateDirectory } from "../local/state-directory.ts";
import { storyText, vmiStory } from "../local/tell-vmi.ts";
import { fieldsOf } from "../one-object.ts";
import { outputFormat, writeObjects } from "../output.ts";
import { parseOptions } from "../parse-options.ts";
import { place } from "../place.ts";
import { UsageError } from "../usage-error.ts";
import { type ClusterChoice, chooseCluster } from "../why/cluster-client.ts";
import { readLiveObjects } from "../why/live-objects.ts";
import { nodeTrouble } from "../why/node-trouble.ts";
import { vmStoriesIn, vmStoryObject, vmStoryText } from "../why/vm-stories.ts";

/** Text of `virtkit why --help`. */
export const help = `Usage: virtkit why NAME [--state-dir DIR] [-o FORMAT]
       virtkit why NAME --context CONTEXT [-n NAMESPACE] [--kubeconfig FILE] [-o FORMAT]
       virtkit why -f VMI.yaml [-f POD.yaml] [-f EVENTS.yaml] [--trace TRACE.yaml] [-o FORMAT]

Shows which handoff of a VMI's start has not happened, and why. Works for VMIs that "virtkit run" started on
this host, where it also says how long each handoff took and how a VMI ended, and for VMIs in a cluster. For a
VM in a cluster it also says why it is not started, and which changes wait for a restart.

  -f, --filename FILE        objects, as printed by kubectl get -o yaml: the VMI, its launcher Pod, events; the
                             VM, its DataVolumes, its ControllerRevisions; - is stdin; may be repeated
      --trace FILE           what the node recorded: a list of {stage, at, state, message}
      --context CONTEXT      read the VM, VMI, Pods, node and events from this context of your kubeconfig;
                             --kubeconfig or -n alone use the current one
  -n, --namespace NAMESPACE  default: the namespace of the context
      --kubeconfig FILE      default: $KUBECONFIG, or ~/.kube/config
  -o, --output FORMAT        text (default), json or yaml
      --state-dir DIR        where VMIs are kept; default $VIRTKIT_STATE_DIR or /var/lib/virtkit

A handoff about which the files say nothing is "unknown". Example:

  kubectl get vm,vmi,pod,events,datavolumes,controllerrevisions -o yaml | virtkit why -f -

Exit codes: 0 the VM or VMI was found, 1 it was not, or something could not be read, 2 wrong usage.`;

interface Story {
  readonly vmi: VirtualMachineInstance;
  readonly handoffs: readonly Handoff[];
  /** Who may run the guest, in one sentence; undefined if the VMI has no run grant. */
  readonly grant: string | undefined;
  /** Its last migration; undefined if none is known. */
  readonly move: MigrationStory | undefined;
}

/** Prints the handoffs of every VMI in the files; exits 1 if there is none or a file is unreadable. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions(args, {
    allowPositionals: true,
    options: {
      filename: { type: "string", short: "f", multiple: true },
      trace: { type: "string" },
      output: { type: "string", short: "o" },
      "state-dir": { type: "string" },
      context: { type: "string" },
      kubeconfig: { type: "string" },
      namespace: { type: "string", short: "n" },
    },
  });
  const format = outputFormat(values.output, ["text", "json", "yaml"]);
  const { context, kubeconfig, namespace } = values;
  if (context !== undefined || kubeconfig !== undefined || namespace !== undefined) {
    if (positionals.length !== 1 || values.filename)
      throw new UsageError("to look into a cluster, why needs one name and no -f");
    const choice = { context, kubeconfig, namespace };
    return await tellLive(positionals[0] ?? "", choice, format, io);
  }
  if (positionals.length > 0 && !values.filename) {
    return await tellVmi(positionals, stateDirectory(values["state-dir"], io), format, io);
  }
  if (!values.filename || positionals.length > 0)
    throw new UsageError(
      "why needs the name of a VMI on this host, or -f with a file that contains a VMI",
    );
  const { documents, problems } = await readManifests(values.filename, io);
  const trace = values.trace ? await readTrace(values.trace, io) : undefined;
  for (const problem of problems) io.stderr.write(`${place(problem)}: ${problem.message}\n`);
  const found = documents.map(({ value }) => value);
  const isTold = await tellObjects(found, trace, format, io);
  if (!isTold) {
    io.stderr.write("virtkit: the files contain no VirtualMachine or VirtualMachineInstance\n");
  }
  return problems.length > 0 || !isTold ? 1 : 0;
}

type Format = "text" | "json" | "yaml";

/** Reports on all VMs and VMIs among the objects; false if there are none. */
async function tellObjects(
  found: readonly unknown[],
  trace: readonly TraceEntry[] | undefined,
  format: Format,
  io: Io,
): Promise<boolean> {
  const now = wallTime().getTime();
  const vms = vmStoriesIn(found, now);
  const stories = storiesIn(found, trace);
  if (stories.length + vms.length === 0) return false;
  const ofKind = (kind: string): readonly unknown[] =>
    found.filter((value) => at(value, "kind") === kind);
  const guests = { vmis: ofKind("VirtualMachineInstance"), vms: ofKind("VirtualMachine") };
  const troubles = ofKind("Node").flatMap((node) => {
    const held = heldGuests(guests, { node: text(at(node, "metadata", "name")) });
    return nodeTrouble(node, now, held.length > 0) ?? [];
  });
  if (format === "text") {
    const nodes = troubles.map((trouble) => `${trouble}\n`);
    await writeAll(io.stdout, [...vms.map(vmStoryText), ...stories.map(tell), ...nodes].join("\n"));
  } else {
    const nodes = troubles.length > 0 ? [{ kind: "Node", troubles }] : [];
    await writeObjects(io, [...vms.map(vmStoryObject), ...stories.map(asObject), ...nodes], format);
  }
  return true;
}

/**
 * Reads and reports what a cluster knows about a name; exits 1 if that is nothing, or if the cluster does not
 * answer.
 */
async function tellLive(
  name: string,
  choice: ClusterChoice,
  format: Format,
  io: Io,
): Promise<number> {
  const { client, context, namespace } = await chooseCluster(choice, io);
  try {
    const { objects, problems } = await readLiveObjects(client, { namespace, name });
    for (const problem of problems) io.stderr.write(`virtkit: ${problem}\n`);
    if (await tellObjects(objects, undefined, format, io)) return 0;
    if (problems.length === 0)
      io.stderr.write(
        `virtkit: VM or VMI ${name} does not exist in namespace ${namespace} of ${context}\n`,
      );
    return 1;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    const advice = `try: kubectl --context ${context} get vmi`;
    io.stderr.write(
      `virtkit: the cluster of context ${context} cannot be read: ${error.message}; ${advice}\n`,
    );
    return 1;
  } finally {
    client.close();
  }
}

async function tellVmi(
  names: readonly string[],
  directory: string,
  format: Format,
  io: Io,
): Promise<number> {
  const story = await vmiStory(directory, await findVmi(directory, names, io));
  const { record, now, trace, handoffs: list, grant, brokenMove } = story;
  if (format === "text") await writeAll(io.stdout, storyText(story));
  else {
    const { namespace, name, createdAt } = record;
    const { state, end } = now;
    const ended = end ? { end } : {};
    const broken = brokenMove === undefined ? {} : { brokenMove };
    const facts = { namespace, name, createdAt, state, ...ended, grant, ...broken };
    const object = { ...facts, trace, handoffs: list };
    await writeObjects(io, [object], format);
  }
  return 0;
}

async function readTrace(source: string, io: Io): Promise<readonly TraceEntry[]> {
  const { documents, problems } = await readManifests([source], io);
  const [problem] = problems;
  if (problem) throw new Error(`${place(problem)}: ${problem.message}`);
  return documents.map((document) => {
    const entry = fieldsOf(document, "a list of {stage, at, state, message}");
    if (isStage(entry["stage"])) return entry as unknown as TraceEntry;
    const found = JSON.stringify(entry["stage"]) ?? "missing";
    const message = `stage is ${found}; use one of ${stages.join(", ")}`;
    throw new Error(complaint(document, ["stage"], message).trimEnd());
  });
}

function storiesIn(
  values: readonly unknown[],
  trace: readonly TraceEntry[] | undefined,
): readonly Story[] {
  const ofKind = <T>(kind: string): T[] =>
    values.filter((value) => (value as { kind?: unknown } | null)?.kind === kind) as T[];
  const pods = ofKind<TimelinePod>("Pod");
  const events = ofKind<TimelineEvent>("Event");
  return ofKind<VirtualMachineInstance>("VirtualMachineInstance").map((vmi) => {
    const pod = launcherPod(vmi, pods);
    const move = lastMove(vmi, ofKind("VirtualMachineInstanceMigration"), events);
    return { vmi, handoffs: handoffs({ vmi, pod, events, trace }), grant: grantOf(vmi), move };
  });
}

/** The newest migration of a VMI. */
function lastMove(
  vmi: VirtualMachineInstance,
  migrations: readonly VirtualMachineInstanceMigration[],
  events: readonly unknown[],
): MigrationStory | undefined {
  const created = (each: VirtualMachineInstanceMigration): string =>
    String(at(each, "metadata", "creationTimestamp") ?? "");
  const newest = migrations
    .filter((each) => at(each, "spec", "vmiName") === at(vmi, "metadata", "name"))
    .filter((each) => at(each, "metadata", "namespace") === at(vmi, "metadata", "namespace"))
    .toSorted((a, b) => (created(a) < created(b) ? -1 : 1))
    .at(-1);
  return newest && migrationStory(newest, { vmi, events });
}

/** A VMI of a platform without run grants has none; that is not worth a sentence. */
function grantOf({ metadata }: VirtualMachineInstance): string | undefined {
  const { annotations, uid } = Object(metadata) as { annotations?: unknown; uid?: unknown };
  const name = names().own(grantAnnotation);
  const all = Object(annotations) as Readonly<Record<string, unknown>>;
  return Object.hasOwn(all, name) ? describeGrant(decodeGrant(all[name], String(uid))) : undefined;
}
const { createdBy } = names().labels;

/** The newest Pod that says that it belongs to this VMI; the only one, if it does not say. */
function launcherPod(
  vmi: VirtualMachineInstance,
  pods: readonly TimelinePod[],
): TimelinePod | undefined {
  const uid = vmi.metadata?.uid;
  const created = (pod: TimelinePod): string =>
    String((pod.metadata as { creationTimestamp?: unknown } | undefined)?.creationTimestamp ?? "");
  const owner = (pod: TimelinePod): unknown =>
    (pod.metadata as { labels?: Record<string, unknown> } | undefined)?.labels?.[createdBy];
  const own = pods.filter((pod) => uid !== undefined && owner(pod) === uid);
  const [newest] = own.sort((a, b) => (created(a) < created(b) ? 1 : -1));
  return newest ?? (pods.length === 1 ? pods[0] : undefined);
}

/** Names come from files: they may be of any type, and a terminal obeys control characters. */
function nameOf({ metadata }: VirtualMachineInstance): string {
  const { namespace, name } = Object(metadata) as { namespace?: unknown; name?: unknown };
  const shown = typeof name === "string" && name !== "" ? name : "(without a name)";
  const hasNamespace = typeof namespace === "string" && namespace !== "";
  return (hasNamespace ? `${namespace}/${shown}` : shown).replace(/\p{Cc}+/gu, " ");
}

function asObject({ vmi, handoffs, grant, move }: Story): unknown {
  const open = firstOpenHandoff(handoffs);
  return {
    namespace: vmi.metadata?.namespace,
    name: vmi.metadata?.name,
    open: open ? { stage: open.stage, state: open.state, reason: open.reason } : null,
    ...(grant && { grant }),
    ...(move && { migration: move }),
    handoffs,
  };
}

function tell({ vmi, handoffs, grant, move }: Story): string {
  const rows = handoffs.map(({ stage, state, at = "", by }) => [stage, state, at, by]);
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const table = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const going = vmi.metadata?.deletionTimestamp ? "is being deleted; " : "";
  const rights = grant ? `${grant}\n` : "";
  const moved = move
    ? `its last migration, ${move.name.replace(/\p{Cc}+/gu, " ")}: ${migrationText(move)}\n`
    : "";
  return `${nameOf(vmi)}: ${going}${headline(handoffs)}\n${rights}${moved}\n${table.map((row) => `  ${row}`).join("\n")}\n`;
}

function headline(list: readonly Handoff[]): string {
  const open = firstOpenHandoff(list);
  if (!open) {
    const isReady = list.some(({ stage, state }) => stage === "ready" && state === "done");
    return isReady ? "is ready" : "the files do not show what it is waiting for";
  }
  const verb = open.state === "failed" ? "failed at" : "waits for";
  const { label, by } = stageFacts[open.stage];
  const what = `${verb} "${open.stage}" (${label}; done by the ${by})`;
  return open.reason ? `${what}: ${open.reason}` : what;
}
