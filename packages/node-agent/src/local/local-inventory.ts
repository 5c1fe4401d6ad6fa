import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ListedClaims } from "../claims/run-claims.ts";
import type { PodJournal } from "../prepare/pod-journal.ts";
import { type HostView, thisHost } from "./host-view.ts";
import { podsDirectory } from "./local-names.ts";
import { agentDirectory } from "./machine.ts";
import { listRecords, type RecordList } from "./machine-record.ts";
import { canonicalDirectory, type ListedOwner } from "./pod-owner.ts";

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
  readonly machine?: { readonly namespace: string; readonly name: string };
  /** Of a cgroup: how many processes are in it; undefined where that cannot be told. */
  readonly processes?: number | undefined;
}

/** Something that may hold traces and could not be looked at. */
export interface UnseenPlace {
  readonly place: string;
  readonly problem: string;
}

/** All traces of Pods on this host that a state directory may answer for. */
export interface LocalInventory {
  /** Without links. */
  readonly stateDirectory: string;
  /** Undefined where the state directory is missing or its records cannot be listed: then nothing follows. */
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
  const look = async <T>(
    place: string,
    find: () => Promise<readonly T[]>,
  ): Promise<readonly T[]> => {
    try {
      return await find();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      unseen.push({ place, problem: error instanceof Error ? error.message : String(error) });
      return [];
    }
  };
  // Loaded on use: whoever lists machines needs neither.
  const { RunClaims } = await import("../claims/run-claims.ts");
  const { PodJournal } = await import("../prepare/pod-journal.ts");
  const agent = agentDirectory(stateDirectory);
  const journalOf = (podUid: string): PodJournal => new PodJournal(agent, podUid);
  const folder = (path: string): Promise<readonly string[]> => look(path, () => readdir(path));
  const owners = await look("/run/virtkit/pods", () => host.owners());
  const traces: LocalTrace[] = [
    ...owners.map(ownerTrace),
    ...(await look("cgroups", () => host.cgroups())).map((name) => cgroupTrace(name, host)),
    ...(await look("/run/netns", () => host.networkNamespaces())).flatMap((name) =>
      kernelTrace("network namespace", name, /^virtkit-([0-9a-f]{11})$/),
    ),
    ...(await look("network links", () => host.links())).flatMap((name) =>
      kernelTrace("link", name, /^vk([0-9a-f]{11})$/),
    ),
    ...(await look("nftables tables", () => host.tables())).flatMap((name) =>
      kernelTrace("nftables table", name, /^virtkit_([0-9a-f]{11})$/),
    ),
    ...podTraces(
      "Pod directory",
      podsDirectory(stateDirectory),
      await folder(podsDirectory(stateDirectory)),
    ),
    ...(await folder(join(agent, "pods")))
      .filter((name) => uid.test(name))
      .map((name) => journalTrace(journalOf(name), name)),
    ...traceFiles(join(agent, "traces"), await folder(join(agent, "traces"))),
    ...(await leases(
      join(stateDirectory, "networks"),
      await folder(join(stateDirectory, "networks")),
    )),
    ...(await look(join(agent, "claims"), async () =>
      claimTraces(new RunClaims(agent).all(), unseen),
    )),
  ];
  const records = await look(join(stateDirectory, "machines"), async () => {
    await stat(stateDirectory);
    return [await listRecords(stateDirectory)];
  });
  return {
    stateDirectory: canonicalDirectory(stateDirectory),
    records: records[0],
    traces,
    owners,
    unseen,
  };
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
    return { kind: "cgroup", place, ...owner, processes: undefined };
  }
}

function kernelTrace(kind: LocalTrace["kind"], name: string, pattern: RegExp): LocalTrace[] {
  const shortUid = pattern.exec(name)?.[1];
  return shortUid === undefined ? [] : [{ kind, place: name, shortUid }];
}

function podTraces(
  kind: LocalTrace["kind"],
  folder: string,
  names: readonly string[],
): LocalTrace[] {
  return names
    .filter((name) => uid.test(name))
    .map((podUid) => ({ kind, place: join(folder, podUid), podUid }));
}

function journalTrace(opened: PodJournal, podUid: string): LocalTrace {
  using journal = opened;
  const trace = { kind: "journal", place: journal.directory, podUid } as const;
  try {
    const vmiUid = journal.pod()?.vmiUid;
    return vmiUid === undefined ? trace : { ...trace, vmiUid };
  } catch {
    // Whose it is its directory's name says; what it says of the VMI is not needed.
    return trace;
  }
}

function traceFiles(folder: string, names: readonly string[]): LocalTrace[] {
  return names.flatMap((name): LocalTrace[] => {
    const vmiUid = /^([A-Za-z0-9-]{1,64})\.jsonl$/.exec(name)?.[1];
    return vmiUid === undefined ? [] : [{ kind: "trace", place: join(folder, name), vmiUid }];
  });
}

async function leases(folder: string, names: readonly string[]): Promise<LocalTrace[]> {
  const found = names
    .filter((name) => /^\d{1,5}$/.test(name))
    .map(async (name): Promise<LocalTrace> => {
      const place = join(folder, name);
      const podUid = (await readFile(place, "utf8").catch(() => "")).trim();
      return { kind: "addresses", place, ...(uid.test(podUid) ? { podUid } : {}) };
    });
  return await Promise.all(found);
}

function claimTraces(listed: readonly ListedClaims[], unseen: UnseenPlace[]): LocalTrace[] {
  return listed.flatMap(({ namespace, name, directory, claims, problem }) => {
    if (problem !== undefined) unseen.push({ place: directory, problem });
    return claims.map(
      ({ podUid, vmiUid, epoch }): LocalTrace => ({
        kind: "claim",
        place: join(directory, `${epoch}.json`),
        podUid,
        vmiUid,
        machine: { namespace, name },
      }),
    );
  });
}
