import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cacheDirectory } from "./cache-directory.ts";
import { type GuestImage, guestDirectory, guestImage } from "./guest-image.ts";
import { LabError } from "./lab-error.ts";
import { libvirtdConfig, qemuConfig } from "./libvirtd-config.ts";
import type { LibvirtdOptions } from "./libvirtd-options.ts";
import { runProgram } from "./run-program.ts";
import { createSandbox, type Sandbox } from "./sandbox.ts";

/** A running libvirtd in session mode, as uid 107, the way a launcher runs it. */
export interface Libvirtd extends AsyncDisposable {
  /** Path of its unix socket, as this process and every other sandbox sees it. */
  readonly socket: string;
  /** URI for `virsh -c` and for peer-to-peer migration. */
  readonly uri: string;
  /** A folder that the daemon and its guests may write to; removed on disposal. */
  readonly directory: string;
  /** Kernel and initramfs, by the paths at which guests of this daemon see them. */
  guest(): Promise<GuestImage>;
  /** Runs `virsh` against this daemon and returns its stdout without the last line end. */
  virsh(...args: string[]): Promise<string>;
  /** Runs a program in the daemon's namespaces, as its user. */
  run(program: string, ...args: string[]): Promise<string>;
  /** Runs a program in the daemon's namespaces, as root: mounts and interfaces go with the sandbox. */
  runAsRoot(program: string, ...args: string[]): Promise<string>;
  /**
   * Sends a signal only to the daemon, not to its guests; waits for its end if the signal ends it.
   */
  kill(signal: "TERM" | "KILL" | "STOP" | "CONT"): Promise<void>;
  /** Starts the daemon again after {@link kill}, under the same paths; its guests are adopted. */
  restart(): Promise<void>;
  /** How the daemon ended, each time it was not asked to. */
  readonly crashes: readonly string[];
}

/** KubeVirt's uid for QEMU; ours as well. */
const uid = 107;

/** Where a sandbox sees the guest's kernel and initramfs. */
const guestMount = "/mnt/guest";

/**
 * Starts libvirtd and waits until it accepts connections. Needs root, and the Debian packages of
 * the host tier. Disposal ends the daemon and its guests and removes everything that they wrote.
 */
export async function startLibvirtd(options: LibvirtdOptions = {}): Promise<Libvirtd> {
  // Not below the caller's TMPDIR: a socket's path has at most 107 bytes.
  const directory = await mkdtemp(join(tmpdir(), "virtkit-lab-"));
  try {
    await writeFiles(directory, options);
    const sandbox = await createSandbox({
      hostname: options.hostname ?? "lab",
      network: options.network ?? "own",
      setup: setup(directory, options),
    });
    const daemon = new SessionLibvirtd(directory, sandbox, options);
    try {
      await daemon.restart();
    } catch (error) {
      await sandbox[Symbol.asyncDispose]();
      throw error;
    }
    return daemon;
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

class SessionLibvirtd implements Libvirtd {
  readonly directory: string;
  readonly socket: string;
  readonly uri: string;
  readonly #sandbox: Sandbox;
  readonly #options: LibvirtdOptions;
  #process: ChildProcess | undefined;
  readonly crashes: string[] = [];
  #isWanted = false;

  constructor(directory: string, sandbox: Sandbox, options: LibvirtdOptions) {
    this.directory = directory;
    this.socket = `${directory}/run/libvirt/libvirt-sock`;
    this.uri = `qemu+unix:///session?socket=${this.socket}`;
    this.#sandbox = sandbox;
    this.#options = options;
  }

  async guest(): Promise<GuestImage> {
    await guestImage();
    return { kernel: `${guestMount}/vmlinuz`, initrd: `${guestMount}/initrd` };
  }

  async virsh(...args: string[]): Promise<string> {
    return (await runProgram("virsh", ["-q", "-c", this.uri, ...args])).trimEnd();
  }

  async run(program: string, ...args: string[]): Promise<string> {
    return await this.#sandbox.run(...this.#asUser(program, args));
  }

  async runAsRoot(program: string, ...args: string[]): Promise<string> {
    return await this.#sandbox.run(program, args);
  }

  async kill(signal: "TERM" | "KILL" | "STOP" | "CONT"): Promise<void> {
    const pid = (await readFile(`${this.directory}/libvirtd.pid`, "utf8")).trim();
    if (signal === "TERM" || signal === "KILL") this.#isWanted = false;
    await this.#sandbox.run("kill", [`-${signal}`, pid]);
    if (signal === "STOP" || signal === "CONT") return;
    const daemon = this.#process;
    const end = Date.now() + 20_000;
    while (daemon && daemon.exitCode === null && daemon.signalCode === null) {
      if (Date.now() > end) {
        const text = `libvirtd ${pid} did not end in 20 s after the signal ${signal}`;
        throw new LabError("LAB_PROGRAM_FAILED", text);
      }
      // `nsenter` stops with the daemon, and does not resume with it on its own.
      daemon.kill("SIGCONT");
      await sleep(5);
    }
    this.#process = undefined;
  }

  async restart(): Promise<void> {
    await rm(this.socket, { force: true });
    const listen = this.#options.tcpPort !== undefined || this.#options.tls !== undefined;
    const args = ["-p", `${this.directory}/libvirtd.pid`, ...(listen ? ["--listen"] : [])];
    const [program, inside] = this.#sandbox.command(...this.#asUser("/usr/sbin/libvirtd", args));
    const daemon = spawn(program, inside, { stdio: "ignore" });
    this.#process = daemon;
    this.#isWanted = true;
    daemon.once("exit", (code, signal) => {
      if (this.#isWanted) this.crashes.push(signal ?? `exit code ${code}`);
    });
    await this.#untilReady(daemon);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isWanted = false;
    await this.#sandbox[Symbol.asyncDispose]();
    this.#process?.kill("SIGKILL");
    await keepCapabilities(this.directory);
    await rm(this.directory, { recursive: true, force: true });
  }

  /** Session mode finds every path of its own through these variables. */
  #asUser(program: string, args: readonly string[]): [string, string[]] {
    const home = this.directory;
    // As KubeVirt's launcher has it; and without sys_ptrace there is no post-copy for a plain user.
    const capabilities = "+net_bind_service,+sys_ptrace";
    const ids = ["--reuid", String(uid), "--regid", String(uid), "--clear-groups"];
    const env = {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: `${home}/home`,
      XDG_RUNTIME_DIR: `${home}/run`,
      XDG_CACHE_HOME: `${home}/cache`,
      XDG_CONFIG_HOME: `${home}/etc`,
      XDG_DATA_HOME: `${home}/data`,
    };
    return [
      "setpriv",
      [
        ...ids,
        `--inh-caps=${capabilities}`,
        `--ambient-caps=${capabilities}`,
        "env",
        "-i",
        ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
        program,
        ...args,
      ],
    ];
  }

  /** The socket exists before the drivers do: only an opened connection shows that all is well. */
  async #answers(): Promise<boolean> {
    if (!existsSync(this.socket)) return false;
    // A daemon that accepts the connection and never answers must not exceed the limit below.
    return await runProgram("virsh", ["-q", "-c", this.uri, "uri"], { timeout: 10_000 }).then(
      () => true,
      () => false,
    );
  }

  async #untilReady(daemon: ChildProcess): Promise<void> {
    const end = Date.now() + 30_000;
    while (!(await this.#answers())) {
      if (daemon.exitCode !== null || Date.now() > end) {
        const log = await readFile(`${this.directory}/libvirtd.log`, "utf8").catch(() => "no log");
        throw new LabError("LAB_NOT_READY", `libvirtd did not start: ${log.slice(-2000).trim()}`);
      }
      await sleep(10);
    }
  }
}

async function writeFiles(directory: string, options: LibvirtdOptions): Promise<void> {
  const hostname = options.hostname ?? "lab";
  const folders = ["run/libvirt", "cache/libvirt", "etc/libvirt", "data", "home"];
  for (const folder of folders) await mkdir(join(directory, folder), { recursive: true });
  const kept = capabilitiesCache();
  if (existsSync(kept)) await cp(kept, capabilitiesOf(directory), { recursive: true });
  const passwd = (await readFile("/etc/passwd", "utf8")).replace(/^.*:x:107:.*\n/gm, "");
  const group = (await readFile("/etc/group", "utf8")).replace(/^.*:x:107:.*\n/gm, "");
  const files = {
    "etc/libvirt/libvirtd.conf": libvirtdConfig(directory, randomUUID(), options),
    "etc/libvirt/qemu.conf": qemuConfig(),
    // A host name that does not resolve costs libvirt a DNS timeout of ten seconds a look-up.
    hosts: `127.0.0.1 localhost ${hostname}\n::1 localhost\n`,
    "nsswitch.conf": "hosts: files\npasswd: files\ngroup: files\n",
    passwd: `${passwd}qemu:x:${uid}:${uid}:qemu:/:/sbin/nologin\n`,
    group: `${group}qemu:x:${uid}:\n`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  await runProgram("chown", ["-R", `${uid}:${uid}`, directory]);
}

/**
 * The guest's folder is mounted: it may be where uid 107 has no access, for example below /root,
 * and a guest that migrates needs it at the same path in both sandboxes.
 */
function setup(directory: string, { kvm = false, network }: LibvirtdOptions): string[] {
  const guests = guestDirectory();
  // The host's own nodes are for root; a launcher's Pod has nodes of its own.
  const devices = [
    ...(kvm ? [{ name: "kvm", node: "/dev/kvm", minor: 232 }] : []),
    ...(typeof network === "object" ? [{ name: "tun", node: "/dev/net/tun", minor: 200 }] : []),
  ];
  return [
    ...["hosts", "nsswitch.conf", "passwd", "group"].map(
      (file) => `mount --bind ${directory}/${file} /etc/${file}`,
    ),
    "mount -t tmpfs -o mode=755 lab /mnt",
    `mkdir -p ${guests} ${guestMount}`,
    `mount --bind ${guests} ${guestMount}`,
    ...devices.flatMap(({ name, node, minor }) => [
      `mknod -m 666 /mnt/${name} c 10 ${minor}`,
      `mount --bind /mnt/${name} ${node}`,
    ]),
  ];
}

function capabilitiesOf(directory: string): string {
  return `${directory}/cache/libvirt/qemu/cache/capabilities`;
}

function capabilitiesCache(): string {
  return cacheDirectory("libvirt-capabilities");
}

/** Probing QEMU takes seconds on a busy host; libvirt itself checks whether an old answer holds. */
async function keepCapabilities(directory: string): Promise<void> {
  const probed = capabilitiesOf(directory);
  const kept = capabilitiesCache();
  if (!existsSync(probed) || existsSync(kept)) return;
  const fresh = `${kept}.${process.pid}`;
  await cp(probed, fresh, { recursive: true });
  await rename(fresh, kept).catch(() => rm(fresh, { recursive: true, force: true }));
}
