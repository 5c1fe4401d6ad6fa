import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { type HostView, thisHost } from "./host-view.ts";
import { podsDirectory } from "./local-names.ts";
import { canonicalDirectory, type ListedOwner } from "./pod-owner.ts";
import { agentDirectory } from "./vmi-life.ts";
import { listRecords, type RecordList } from "./vmi-record.ts";

/** One thing that a Pod of local mode has, or had, on this host. */
export interface LocalTrace {
  readonly kind:
    | "claim"
    | "Pod directory"
    | "journal"
    | "trace"
    | "addresses"
    | "cgroup"
    | "network namespace"
    | "link"
    | "nftables table"
    | "owner note";
  /** File or name, to look at. */
  readonly place: string;
  readonly podUid?: string;
  /** The part of the Pod's UID that the kernel's shorter names hold. */
  readonly shortUid?: string;
  readonly vmiUid?: string;
  readonly vmi?: { readonly namespace: string; readonly name: string };
  /** Of a cgroup: how many processes are in it; undefined if that is not known. */
  readonly processes?: number | undefined;
}

/** A place that may hold traces and could not be examined. */
export interface UnseenPlace {
  readonly place: string;
  readonly problem: string;
}

/** All traces of Pods on this host that a state directory may own. */
export interface LocalInventory {
  /** Without links. */
  readonly stateDirectory: string;
  /**
   * Undefined if the state directory is missing or its records cannot be listed: then nothing
   * follows.
   */
  readonly records: RecordList | undefined;
  readonly traces: readonly LocalTrace[];
  readonly owners: readonly ListedOwner[];
  readonly unseen: readonly UnseenPlace[];
}

const uid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Looks for everything. Changes nothing.
 *
 * Records are read last: each is written before the first trace of its Pod and removed after the last, so a
 * Pod that was seen and has no record now is neither being started nor being removed.
 */
export async function localInventory(
  stateDirectory: string,
  host: HostView = thisHost,
): Promise<LocalInventory> {
  const unseen: UnseenPlace[] = [];
  const look: Look = async (place, find) => {
    try {
      return await find();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      unseen.push({ place, problem: error instanceof Error ? error.message : String(error) });
      return [];
    }
  };
  const owners = await look("/run/virtkit/pods", () => host.owners());
  const traces = [
    ...owners.map(ownerTrace),
    ...(await hostTraces(host, look)),
    ...(await fileTraces(stateDirectory, look)),
    ...(await claimTraces(stateDirectory, look, unseen)),
  ];
  const [records] = await look(join(stateDirectory, "vmis"), async () => {
    await stat(stateDirectory);
    return [await listRecords(stateDirectory)];
  });
  return { stateDirectory: canonicalDirectory(stateDirectory), records, traces, owners, unseen };
}

/** What is found; nothing if the place cannot be examined, which is then noted. */
type Look = <T>(place: string, find: () => Promise<readonly T[]>) => Promise<readonly T[]>;

async function hostTraces(host: HostView, look: Look): Promise<LocalTrace[]> {
  const cgroups = await look("cgroups", () => host.cgroups());
  const namespaces = await look("/run/netns", () => host.networkNamespaces());
  const links = await look("network links", () => host.links());
  const tables = await look("nftables tables", () => host.tables());
  return [
    ...cgroups.map((name) => cgroupTrace(name, host)),
    ...kernelTraces("network namespace", namespaces, /^virtkit-([0-9a-f]{11})$/),
    ...kernelTraces("link", links, /^vk([0-9a-f]{11})$/),
    ...kernelTraces("nftables table", tables, /^virtkit_([0-9a-f]{11})$/),
  ];
}

async function fileTraces(stateDirectory: string, look: Look): Promise<LocalTrace[]> {
  const agent = agentDirectory(stateDirectory);
  const folder = async <T>(path: string, traceOf: (name: string) => Promise<T[]>): Promise<T[]> => {
    const names = await look(path, () => readdir(path));
    return (await Promise.all(names.map(traceOf))).flat();
  };
  const [pods, networks] = [podsDirectory(stateDirectory), join(stateDirectory, "networks")];
  const [journals, traces] = [join(agent, "pods"), join(agent, "traces")];
  return [
    ...(await folder(pods, async (name) => podDirectoryTrace(pods, name))),
    ...(await folder(journals, async (name) => await journalTrace(agent, name))),
    ...(await folder(traces, async (name) => traceFile(traces, name))),
    ...(await folder(networks, async (name) => await lease(networks, name))),
  ];
}

function ownerTrace({ podUid, file }: ListedOwner): LocalTrace {
  return { kind: "owner note", place: file, podUid };
}

function cgroupTrace(name: string, host: HostView): LocalTrace {
  const owner = uid.test(name) ? { podUid: name } : {};
  const place = `virtkit/${name}`;
  try {
    return { kind: "cgroup", place, ...owner, processes: host.processes(name) };
  } catch {
    // What cannot be counted is not zero: it is reported as unknown.
    return { kind: "cgroup", place, ...owner, processes: undefined };
  }
}

function kernelTraces(
  kind: LocalTrace["kind"],
  names: readonly string[],
  pattern: RegExp,
): LocalTrace[] {
  return names.flatMap((place) => {
    const shortUid = pattern.exec(place)?.[1];
    return shortUid === undefined ? [] : [{ kind, place, shortUid }];
  });
}

function podDirectoryTrace(folder: string, podUid: string): LocalTrace[] {
  return uid.test(podUid) ? [{ kind: "Pod directory", place: join(folder, podUid), podUid }] : [];
}

async function journalTrace(agent: string, podUid: string): Promise<LocalTrace[]> {
  if (!uid.test(podUid)) return [];
  // Loaded on use, here and below: whoever lists VMIs does not need it.
  const { PodJournal } = await import("@virtkit/node-agent/prepare");
  using journal = new PodJournal(agent, podUid);
  const trace = { kind: "journal", place: journal.directory, podUid } as const;
  try {
    const vmiUid = journal.pod()?.vmiUid;
    return [vmiUid === undefined ? trace : { ...trace, vmiUid }];
  } catch {
    // Whose it is its directory's name says; what it says of the VMI is not needed.
    return [trace];
  }
}

function traceFile(folder: string, name: string): LocalTrace[] {
  const vmiUid = /^([A-Za-z0-9-]{1,64})\.jsonl$/.exec(name)?.[1];
  return vmiUid === undefined ? [] : [{ kind: "trace", place: join(folder, name), vmiUid }];
}

async function lease(folder: string, name: string): Promise<LocalTrace[]> {
  if (!/^\d{1,5}$/.test(name)) return [];
  const place = join(folder, name);
  // It is listed without its Pod.
  const podUid = (await readFile(place, "utf8").catch(() => "")).trim();
  return [{ kind: "addresses", place, ...(uid.test(podUid) ? { podUid } : {}) }];
}

async function claimTraces(
  stateDirectory: string,
  look: Look,
  unseen: UnseenPlace[],
): Promise<LocalTrace[]> {
  const { RunClaims } = await import("@virtkit/node-agent/claims");
  const agent = agentDirectory(stateDirectory);
  const listed = await look(join(agent, "claims"), async () => new RunClaims(agent).all());
  return listed.flatMap(({ namespace, name, directory, claims, problem }) => {
    if (problem !== undefined) unseen.push({ place: directory, problem });
    return claims.map(
      ({ podUid, vmiUid, file }): LocalTrace => ({
        kind: "claim",
        place: file,
        podUid,
        vmiUid,
        vmi: { namespace, name },
      }),
    );
  });
}
