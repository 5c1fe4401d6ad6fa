import { resolve } from "node:path";
import { until } from "@virtkit/api/clock";
import { readQuantity } from "@virtkit/api/quantity";
import { isKubeError } from "@virtkit/kube";
import type { MovedVmi, MoveHandle, VmiRecord } from "@virtkit/local";
import { type Io, writeAll } from "../io.ts";
import { tellBrokenMove } from "../local/broken-move.ts";
import { findVmi, parseName, vmiName } from "../local/find-vmi.ts";
import { forecastText } from "../local/forecast-text.ts";
import { MoveDisplay } from "../local/move-line.ts";
import { stateDirectory } from "../local/state-directory.ts";
import { moveText } from "../local/tell-vmi.ts";
import { parseOptions } from "../parse-options.ts";
import { UsageError } from "../usage-error.ts";
import { type ClusterChoice, chooseCluster } from "../why/cluster-client.ts";

/** Text of `virtkit migrate --help`. */
export const help: string = `Usage: virtkit migrate NAME [--watch] [--postcopy] [--disk VOLUME=FILE]...
                       [--bandwidth RATE] [--state-dir DIR]
       virtkit migrate NAME --dry-run [--postcopy] [--bandwidth RATE] [--state-dir DIR]
       virtkit migrate NAME --abort [--state-dir DIR]
       virtkit migrate NAME --context CONTEXT [-n NAMESPACE] [--kubeconfig FILE] [--watch | --abort]

Moves a running guest into a new sandbox on this host. The sandbox has the launcher, libvirt and QEMU that
are installed now, so a guest gets new versions without a restart. Memory, disks and published ports move
with it, and at most one copy runs at any moment. Ctrl-C aborts the move, and the guest keeps running where
it was. If this process is killed, the next command finishes the move.

With --context, -n or --kubeconfig it moves the guest of a VMI in a cluster to another node: it creates a
VirtualMachineInstanceMigration and follows it. Ctrl-C and --abort delete the migration, and the guest stays
where it is unless it has already moved. If this process is killed, the cluster carries on.

      --watch                show progress: in place on a terminal, otherwise a line each second
      --postcopy             run the guest at the target after the first round, and fetch the rest of its
                             memory afterwards: always completes, but the guest is slow until all memory
                             has arrived; needs the sysctl vm.unprivileged_userfaultfd=1
      --disk VOLUME=FILE     copy a claim's volume to this raw file, which may be larger; the guest uses it
                             from then on; may be repeated
      --bandwidth RATE       at most this many bytes per second, such as 100M or 64Mi
      --dry-run              say whether the guest can move, why not, and how long it would take
      --abort                abort a move; the guest stays where it is
      --context CONTEXT      a context of your kubeconfig; --kubeconfig or -n alone use the current one
  -n, --namespace NAMESPACE  default: the namespace of the context
      --kubeconfig FILE      default: $KUBECONFIG, or ~/.kube/config
      --state-dir DIR        where VMIs are kept; default $VIRTKIT_STATE_DIR or /var/lib/virtkit

Exit codes: 0 the guest has moved (with --abort: it has stayed; with --dry-run: it can move), 1 otherwise,
2 wrong usage.`;

/** Exits 1 if the guest stayed. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions(args, {
    allowPositionals: true,
    options: {
      watch: { type: "boolean" },
      postcopy: { type: "boolean" },
      bandwidth: { type: "string" },
      disk: { type: "string", multiple: true },
      "dry-run": { type: "boolean" },
      abort: { type: "boolean" },
      "state-dir": { type: "string" },
      context: { type: "string" },
      kubeconfig: { type: "string" },
      namespace: { type: "string", short: "n" },
    },
  });
  const { context, kubeconfig, namespace, watch = false, abort: isAbort = false } = values;
  if (context !== undefined || kubeconfig !== undefined || namespace !== undefined) {
    const local = ["postcopy", "bandwidth", "disk", "dry-run", "state-dir"] as const;
    const given = local.find((option) => values[option] !== undefined);
    if (given)
      throw new UsageError(
        `--${given} works only for guests of this host; in a cluster, use a MigrationPolicy`,
      );
    const choice = { context, kubeconfig, namespace };
    return await inCluster(positionals, choice, { watch, isAbort }, io);
  }
  const directory = stateDirectory(values["state-dir"], io);
  if (values.abort) return await abort(directory, positionals, io);
  const bandwidth = bandwidthOf(values.bandwidth);
  const record = await findVmi(directory, positionals, io);
  const { postcopy: postCopy = false } = values;
  if (values["dry-run"]) return await forecast(directory, record, { bandwidth, postCopy }, io);
  const display = values.watch
    ? new MoveDisplay((text) => io.stderr.write(text), io.isTerminal)
    : undefined;
  io.stderr.write(`Moving ${vmiName(record)} into a new sandbox\n`);
  const { last } = await moved(directory, record, {
    bandwidth,
    postCopy,
    disks: disksOf(values.disk),
    display,
    io,
  });
  display?.end();
  io.stderr.write(`${vmiName(record)}: ${moveText(last)}.\n`);
  return last.outcome === "moved" ? 0 : 1;
}

/** Moves the guest of a cluster's VMI, or aborts such a move. */
async function inCluster(
  positionals: readonly string[],
  choice: ClusterChoice,
  { watch, isAbort }: { readonly watch: boolean; readonly isAbort: boolean },
  io: Io,
): Promise<number> {
  const [name, ...others] = positionals;
  if (!name || others.length > 0) throw new UsageError("migrate needs the name of one VMI");
  const { client, context, namespace } = await chooseCluster(choice, io);
  const cluster = await import("../cluster/migrate-in-cluster.ts");
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort();
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  try {
    const wish = { client, vmi: { namespace, name }, watch, interrupt: interrupt.signal };
    return await (isAbort ? cluster.abortInCluster(wish, io) : cluster.migrateInCluster(wish, io));
  } catch (error) {
    if (!isKubeError(error)) throw error;
    io.stderr.write(`virtkit: the cluster of context ${context} says: ${error.message}\n`);
    return 1;
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
    client.close();
  }
}

function bandwidthOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const amount = readQuantity(text);
  if (typeof amount !== "string" && amount.value() > 0n) return text;
  throw new UsageError(`--bandwidth ${text}: use bytes per second, such as 100M or 64Mi`);
}

/** Exits 1 if the guest cannot move, or would stay where it is. */
async function forecast(
  directory: string,
  record: VmiRecord,
  wishes: Pick<Wishes, "bandwidth" | "postCopy">,
  io: Io,
): Promise<number> {
  const { forecastMove } = await import("@virtkit/local");
  const found = await forecastMove({ stateDirectory: directory, record, ...wishes });
  await writeAll(io.stdout, `${forecastText(vmiName(record), found)}\n`);
  if (found.obstacle) return 1;
  return found.forecast.end === "aborted" || found.forecast.end === "never" ? 1 : 0;
}

function disksOf(given: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf("=");
      if (at > 0 && at < text.length - 1) {
        return [text.slice(0, at), resolve(text.slice(at + 1))] as const;
      }
      throw new UsageError(`--disk ${text}: use VOLUME=FILE, such as data=/var/lib/disk.img`);
    }),
  );
}

interface Wishes {
  readonly bandwidth: string | undefined;
  readonly postCopy: boolean;
  readonly disks: Readonly<Record<string, string>>;
  readonly display: MoveDisplay | undefined;
  readonly io: Io;
}

async function moved(
  directory: string,
  record: VmiRecord,
  { bandwidth, postCopy, disks, display, io }: Wishes,
): Promise<MovedVmi> {
  const { moveVmi, whyBroken } = await import("@virtkit/local");
  const tellBroken = tellBrokenMove(vmiName(record), whyBroken, io);
  const interrupt = new AbortController();
  let handle: MoveHandle | undefined;
  let switched = !postCopy;
  const stop = (): void => {
    if (!handle) interrupt.abort(new Error("interrupted"));
    // If it is too late the guest moves on, which the end shows.
    else void handle.abort("Ctrl-C").catch(() => {});
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  try {
    return await moveVmi({
      ...{ stateDirectory: directory, record, disks, signal: interrupt.signal },
      options: {
        ...(bandwidth === undefined ? {} : { bandwidth }),
        ...(postCopy ? { allowPostCopy: true, allowWorkloadDisruption: true } : {}),
      },
      onBegun: (begun) => {
        handle = begun;
        // Too early for the launcher means that the guest moved before it could be switched.
      },
      onReport: (report) => {
        display?.show(report);
        tellBroken(report);
        if (switched || (report.progress?.iteration ?? 0) < 2) return;
        switched = true;
        // Refused if the rest was sent before: then it moves like any other.
        void handle?.switchToPostCopy().catch(() => {});
      },
    });
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  }
}

/** How long an abort may take: both launchers have to answer. */
const abortTimeout = 60_000;

async function abort(directory: string, names: readonly string[], io: Io): Promise<number> {
  const { namespace, name } = parseName(names);
  const local = await import("@virtkit/local");
  const record = await local.readRecord(directory, namespace, name);
  if (!record?.move) {
    throw new UsageError(`${vmiName({ namespace, name })} is not being moved; run: virtkit ps`);
  }
  const reason = "virtkit migrate --abort";
  if (local.isMoveOrphaned(record)) {
    await local.settleMove({ stateDirectory: directory, record, abort: reason });
  } else {
    const { migrationUID, source } = record.move;
    await using client = await local.connectVmi(directory, { ...record, podUid: source });
    await client.cancelMigration({ migrationUID, reason });
  }
  const over = await until(
    async () => {
      const now = await local.readRecord(directory, namespace, name);
      return now?.move ? undefined : { last: now?.lastMove };
    },
    { interval: 100, timeout: abortTimeout },
  );
  if (!over)
    throw new Error(`the move of ${name} has not ended yet; check again: virtkit why ${name}`);
  io.stderr.write(`${vmiName(record)}: ${over.last ? moveText(over.last) : "it is not known"}.\n`);
  return over.last?.outcome === "stayed" ? 0 : 1;
}
