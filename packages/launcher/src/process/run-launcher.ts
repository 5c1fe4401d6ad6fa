import { readFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { type Clock, realClock, until } from "@virtkit/api/clock";
import { type Names, names } from "@virtkit/api/names";
import { describeError, type Log, type Metrics, type Observers } from "@virtkit/api/observe";
import type { Libvirt } from "@virtkit/domain-manager/libvirt";
import type { LauncherInfo } from "../channel/launcher-info.ts";
import { channelVersions } from "../channel/messages.ts";
import { verbs } from "../channel/verbs.ts";
import { handoverSocket } from "../client/handover-socket.ts";
import { LauncherError } from "../launcher-error.ts";
import { LauncherMigrations } from "../migration/launcher-migrations.ts";
import { GuestProbes } from "../probes/guest-probes.ts";
import { ChannelListener } from "./channel-listener.ts";
import type { CreateControl } from "./create-control.ts";
import { GuestLife } from "./guest-life.ts";
import { HandoverServer } from "./handover.ts";
import { LauncherGuest } from "./launcher-guest.ts";
import type { LauncherOptions } from "./launcher-options.ts";
import { Libvirtd } from "./libvirtd.ts";
import { type LibvirtdHome, libvirtdHome, writeLibvirtdFiles } from "./libvirtd-files.ts";
import { whereOf } from "./log.ts";
import { keepLogsSmall } from "./log-keeper.ts";
import { startReaper } from "./reaper.ts";
import { type Ending, leaveTerminationMessage } from "./termination-message.ts";

/** The environment of {@link runLauncher}. */
export interface LauncherWorld {
  readonly log: Log;
  readonly metrics?: Metrics;
  readonly createControl: CreateControl;
  /** Where things are. Default: by the names of the command line. */
  readonly names?: Names;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  /** Aborted when the launcher is told to end. */
  readonly signal: AbortSignal;
}

/** How long the first connection to libvirtd may take: it looks at QEMU first. */
const libvirtdTimeout = 120_000;
/** Names of QEMU's processes: `qemu-system-x86`, `qemu-kvm`, `kvm`. */
const qemuNames = /^(qemu|kvm)/;
/** How long an ended guest is kept for the node agent to see and delete. As in KubeVirt. */
const deleteTimeout = 15_000;

/**
 * Runs one guest's launcher to its end and returns the exit code: 0 after a guest that ended in any
 * way, or that was never started; 1 if the launcher itself failed. Leaves a termination message.
 */
export async function runLauncher(options: LauncherOptions, world: LauncherWorld): Promise<number> {
  let qemuSignal: string | undefined;
  using _reaper = startReaper((orphans) => {
    world.log.info({ pids: orphans.map(({ pid }) => pid) }, "reaped orphans");
    // libvirt says that a guest has ended only after its QEMU is gone: the last one is the guest's.
    const qemu = orphans.filter(({ name }) => qemuNames.test(name)).at(-1);
    if (qemu) qemuSignal = qemu.signal;
  }, world.clock);
  let ending: Ending;
  try {
    ending = await live(options, world, () => qemuSignal);
  } catch (error) {
    ending = { how: "launcher-failed", error: describeError(error) };
    world.log.error({ error: describeError(error) }, "the launcher failed");
  }
  world.log.info({ how: ending.how, state: ending.status?.state }, "the launcher ends");
  await leaveMessage(options, ending, world.log);
  const failed = ending.how === "launcher-failed" || ending.status?.state === "Crashed";
  if (failed && options.keepAfterFailure && !world.signal.aborted) {
    world.log.warn("staying after the failure, as configured; end it with SIGTERM");
    await aborted(world.signal);
  }
  return ending.how === "launcher-failed" ? 1 : 0;
}

async function live(
  options: LauncherOptions,
  world: LauncherWorld,
  qemuSignal: () => string | undefined,
): Promise<Ending> {
  const { log, metrics, env = process.env, clock = realClock } = world;
  const { names: all = names(options.names) } = world;
  refuseRoot();
  refuseHooks(options);
  await checkHostName(log);
  const home = libvirtdHome(env, all.directories.private);
  await makeDirectories(all, options);
  const sharedFilesystems = env["SHARED_FILESYSTEM_PATHS"]?.split(":").filter(Boolean) ?? [];
  const { migrationTls } = all.directories;
  await writeLibvirtdFiles(home, options, { sharedFilesystems, migrationTls });
  using _logs = keepLogsSmall({ folder: `${home.cache}/libvirt/qemu/log`, clock });
  const around = { log, metrics, clock };
  await using libvirtd = new Libvirtd({ program: options.libvirtd, home, ...around });
  await libvirtd.start();
  await using libvirt = await connected(home, around, world.signal);
  await using agentLibvirt = libvirt && (await connected(home, around, world.signal));
  // Told to end before there was anything to end.
  if (!libvirt || !agentLibvirt) return { how: "never-ran" };
  const parts = { libvirt, agentLibvirt, options, names: all, ...around };
  await using control = await world.createControl(parts);
  using probes = options.runProbes ? new GuestProbes(around) : undefined;
  const guest = new LauncherGuest(control, { uid: options.uid, probes });
  await using handover = new HandoverServer({ path: handoverSocket(all), ...around });
  await using migrations = new LauncherMigrations({
    vmiUID: options.uid,
    domain: `${options.namespace}_${options.name}`,
    directory: `${all.directories.private}/migrations`,
    connect: async () => await ownConnection(home, around),
    prepareGuest: async (guest) => {
      const { prepareIncomingGuest } = await import("@virtkit/domain-manager");
      const { namespace, name, uid: vmiUid, podUid } = options;
      const identity = { namespace, name, vmiUid, podUid };
      return await prepareIncomingGuest({ names: all, identity }, guest);
    },
    ...around,
  });
  await using channel = new ChannelListener({
    control: guest,
    migrations,
    info: () => describeLauncher(options, handover.networks),
    paths: { init: all.sockets.launcherInit, ready: all.sockets.launcher },
    ...around,
    onDefect: (verb, error) =>
      log.error({ verb, where: whereOf(error) }, "a verb failed because of a defect"),
  });
  await handover.listen();
  await migrations.resume();
  await channel.listen();
  const life = new GuestLife(guest, { ...options, qemuSignal, log, clock });
  void probes?.failed.then((message) => life.endLifeless(message));
  const onSignal = (): void => {
    log.info("shutting down; the guest is asked to shut down");
    void life.shutDown();
  };
  world.signal.addEventListener("abort", onSignal, { once: true });
  if (world.signal.aborted) onSignal();
  await channel.ready();
  log.info({ vmi: `${options.namespace}/${options.name}`, uid: options.uid }, "ready");
  const ending = await life.ended;
  // At once, not only when the launcher ends: even if it is killed now, it is known how its guest
  // ended.
  await leaveMessage(options, ending, log);
  if (ending.how !== "never-ran") await deletedOrLate(guest, clock, log);
  return ending;
}

/** libvirt in session mode is an ordinary user's; as root it would look for the system's. */
function refuseRoot(): void {
  if (process.getuid?.() !== 0) return;
  throw new LauncherError("LAUNCHER_OPTION", "the launcher runs as root; start it as uid 107");
}

/** A guest that needs a hook must not run without it. */
function refuseHooks({ hookSidecars }: LauncherOptions): void {
  if (hookSidecars === 0) return;
  const text = `--hook-sidecars is ${hookSidecars}, but this launcher does not call hooks yet; remove them from the VMI`;
  throw new LauncherError("LAUNCHER_OPTION", text, { path: "--hook-sidecars" });
}

/** Otherwise every lookup of the own host name would wait ten seconds for a name server. */
async function checkHostName(log: Log): Promise<void> {
  const name = hostname();
  // A file that is not there names nobody, which is reported below.
  const hosts = await readFile("/etc/hosts", "utf8").catch(() => "");
  const known = hosts
    .split("\n")
    .some((line) => line.replace(/#.*/, "").split(/\s+/).includes(name));
  if (!known) {
    log.warn({ name }, `/etc/hosts does not name ${name}; libvirt will be slow: add it there`);
  }
}

async function makeDirectories(
  { directories, sockets }: Names,
  { uid }: LauncherOptions,
): Promise<void> {
  const serial = sockets.serial(uid);
  const wanted = [
    directories.sockets,
    directories.private,
    serial.slice(0, serial.lastIndexOf("/")),
    directories.ephemeralDisks,
    directories.libvirt,
  ];
  for (const path of wanted) await mkdir(path, { recursive: true });
}

/**
 * A connection to libvirtd, as soon as it accepts one; undefined if the launcher is told to end
 * before that.
 */
async function connected(
  home: LibvirtdHome,
  { clock, ...observers }: Observers & { readonly clock: Clock },
  signal: AbortSignal,
): Promise<Libvirt | undefined> {
  const { connectLibvirt } = await import("@virtkit/domain-manager/libvirt");
  const uri = `qemu+unix:///session?socket=${home.socket}`;
  const reconnect = { firstDelay: 50, lastDelay: 1_000 };
  const deadline = clock.now() + libvirtdTimeout;
  let cause: unknown;
  const attempt = async (): Promise<{ readonly libvirt: Libvirt | undefined } | undefined> => {
    const connectTimeout = Math.max(deadline - clock.now(), 10_000);
    const options = { uri, reconnect, maxInFlight: 16, connectTimeout, clock, ...observers };
    try {
      return { libvirt: await connectLibvirt({ ...options, signal }) };
    } catch (error) {
      cause = error;
      return signal.aborted ? { libvirt: undefined } : undefined;
    }
  };
  const found = await until(attempt, { clock, interval: 20, timeout: libvirtdTimeout });
  if (found) return found.libvirt;
  const text = `libvirtd does not answer on ${home.socket}: ${describeError(cause)}; its log is above`;
  throw new LauncherError("LAUNCHER_LIBVIRTD", text, { path: home.socket, cause });
}

/**
 * A connection of one migration. If it is reopened, what it held in libvirt is gone; the state then
 * decides.
 */
async function ownConnection(
  { socket }: LibvirtdHome,
  around: Observers & { readonly clock: Clock },
): Promise<Libvirt> {
  const { connectLibvirt } = await import("@virtkit/domain-manager/libvirt");
  const reconnect = { firstDelay: 50, lastDelay: 1_000 };
  const uri = `qemu+unix:///session?socket=${socket}`;
  return await connectLibvirt({ uri, reconnect, ...around });
}

function describeLauncher(
  { name, namespace, uid }: LauncherOptions,
  servedNetworks: readonly string[],
): LauncherInfo {
  return {
    versions: channelVersions,
    software: `virtkit-launcher/${release()}`,
    vmi: { name, namespace, uid },
    verbs: [...Object.keys(verbs), "events"],
    servedNetworks,
  };
}

/** The release of this package, from its own package.json; `unknown` if that is not there. */
function release(): string {
  try {
    const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    return String((JSON.parse(text) as { version?: unknown }).version);
  } catch {
    // A bundle without one runs as well.
    return "unknown";
  }
}

async function deletedOrLate(guest: LauncherGuest, clock: Clock, log: Log): Promise<void> {
  let timer: unknown;
  const late = new Promise<"late">((resolve) => {
    timer = clock.setTimeout(() => resolve("late"), deleteTimeout);
  });
  if ((await Promise.race([guest.deleted, late])) === "late") {
    log.warn("nobody deleted the ended guest");
  }
  clock.clearTimeout(timer);
}

async function leaveMessage(
  { terminationMessage: path }: LauncherOptions,
  ending: Ending,
  log: Log,
): Promise<void> {
  if (!(await leaveTerminationMessage(path, ending))) {
    log.warn({ path }, "the termination message could not be left");
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
}
