import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { prepareVmi, resolveContext } from "@virtkit/converter";
import { MayRun, type SyncRequest } from "@virtkit/domain-manager";
import { createSandbox, guestCommandLine, guestImage, type Sandbox } from "@virtkit/lab";
import { connectLauncher } from "../client/connect-launcher.ts";
import type { LauncherClient } from "../client/launcher-client.ts";
import { launcherNodeFlags } from "../node-flags.ts";

const repository = resolve(dirname(fileURLToPath(import.meta.url)), "../../../..");
/** KubeVirt's user for QEMU, and ours. */
const user = 107;

/** Whose guest the launchers of a test run. */
export const vmiOf = {
  name: "demo",
  namespace: "default",
  uid: "5d0c3a52-0001-4000-8000-000000000001",
};
export const podUid = "5d0c3a52-0002-4000-8000-000000000002";

/** What a node agent would send for a VMI that boots the lab's guest, with its claim. */
export function syncRequest(kernelArgs = ""): SyncRequest {
  const container = { kernelPath: "/vmlinuz", initrdPath: "/initrd", image: "lab" };
  const vmi = {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: vmiOf,
    spec: {
      domain: {
        memory: { guest: "256Mi" },
        cpu: { cores: 1, model: "qemu64" },
        firmware: {
          uuid: vmiOf.uid,
          kernelBoot: {
            container,
            kernelArgs: `${guestCommandLine} hb=none ${kernelArgs}`,
          },
        },
        devices: { autoattachPodInterface: false },
      },
    },
  } as VirtualMachineInstance;
  const environment = {
    allowEmulation: true,
    hypervisorDeviceAvailable: false,
    emulatorBinaries: ["/usr/bin/qemu-system-x86_64"],
  };
  const prepared = prepareVmi(vmi, environment);
  return {
    vmi: prepared,
    context: resolveContext(prepared, environment),
    mayRun: MayRun.fromAgent({ vmiUid: vmiOf.uid, podUid, epoch: 1 }),
  };
}

/** A launcher's surroundings, as a kubelet would create them. Disposing of them ends everything inside. */
export interface Surroundings extends AsyncDisposable {
  /** `/run` of the sandbox, as this process sees it. */
  readonly run: string;
  /** The file for the termination message. */
  readonly terminationLog: string;
  readonly sandbox: Sandbox;
  /** Starts a launcher, by default as PID 1 of its own namespace. */
  start(options?: StartOptions): Promise<LauncherProcess>;
}

export interface StartOptions {
  readonly pid1?: boolean;
  readonly args?: readonly string[];
}

/** A launcher in its own process. */
export interface LauncherProcess {
  /** Its pid as this process sees it. */
  readonly pid: number;
  readonly socket: string;
  /** Its log so far. */
  log(): string;
  signal(name: NodeJS.Signals): void;
  /** Waits until the socket has its second name, then connects. */
  connect(): Promise<LauncherClient>;
  readonly exit: Promise<number | null>;
}

/** Creates a sandbox as a kubelet would, with its own network that has only `lo`. */
export async function createSurroundings(): Promise<Surroundings> {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-launcher-"));
  const run = join(directory, "run");
  const guest = dirname((await guestImage()).kernel);
  const capabilities = join(dirname(guest), "libvirt-capabilities");
  const folders = ["kubevirt", "kubevirt-private", "kubevirt-ephemeral-disks", "libvirt"];
  const passwd = "root:x:0:0:root:/root:/bin/sh\nqemu:x:107:107:qemu:/:/sbin/nologin\n";
  const sandbox = await createSandbox({
    hostname: "launcher",
    network: "own",
    setup: [
      `mkdir -p ${run} ${folders.map((folder) => `${run}/${folder}`).join(" ")}`,
      `mkdir -p ${run}/kubevirt/container-disks/kernel-boot`,
      `touch ${run}/kubevirt/container-disks/kernel-boot/vmlinuz`,
      `touch ${run}/kubevirt/container-disks/kernel-boot/initrd`,
      `printf '127.0.0.1 localhost launcher\\n' > ${directory}/hosts`,
      `printf 'hosts: files\\npasswd: files\\ngroup: files\\n' > ${directory}/nsswitch.conf`,
      `printf '${passwd.replaceAll("\n", "\\n")}' > ${directory}/passwd`,
      `printf 'root:x:0:\\nqemu:x:107:\\n' > ${directory}/group`,
      `: > ${directory}/termination-log`,
      `chmod 755 ${directory}; chown -R ${user}:${user} ${directory}`,
      ...["hosts", "nsswitch.conf", "passwd", "group"].map(
        (file) => `mount --bind ${directory}/${file} /etc/${file}`,
      ),
      "mount -t tmpfs -o mode=755 lab /mnt",
      "mkdir /mnt/guest /mnt/repository /mnt/capabilities; touch /mnt/node",
      `mount --bind ${guest} /mnt/guest`,
      `mount --bind ${repository} /mnt/repository`,
      `[ ! -d ${capabilities} ] || mount --bind ${capabilities} /mnt/capabilities`,
      `mount --bind ${process.execPath} /mnt/node`,
      `mount --bind ${run} /run`,
      ...["vmlinuz", "initrd"].map(
        (file) =>
          `mount --bind /mnt/guest/${file} /run/kubevirt/container-disks/kernel-boot/${file}`,
      ),
    ],
  });
  const started: ChildProcess[] = [];
  return {
    run,
    terminationLog: `${directory}/termination-log`,
    sandbox,
    start: async (options) => {
      const launcher = startLauncher(sandbox, directory, options);
      started.push(launcher.child);
      return await launcher.ready;
    },
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]();
      for (const child of started) if (child.exitCode === null) child.kill("SIGKILL");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function startLauncher(
  sandbox: Sandbox,
  directory: string,
  { pid1 = true, args = [] }: StartOptions = {},
): { readonly child: ChildProcess; readonly ready: Promise<LauncherProcess> } {
  const { name, namespace, uid } = vmiOf;
  const line = [
    ...["/mnt/node", ...launcherNodeFlags],
    "/mnt/repository/packages/launcher/bin/virtkit-launcher.js",
    ...["--name", name, "--namespace", namespace, "--uid", uid, "--pod-uid", podUid],
    ...["--allow-emulation", "--capabilities-cache", "/mnt/capabilities"],
    ...["--termination-message", `${directory}/termination-log`],
    ...args,
  ];
  const namespaces = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const ids = ["setpriv", "--reuid", `${user}`, "--regid", `${user}`, "--clear-groups"];
  const [first = "", ...rest] = [...(pid1 ? namespaces : []), ...ids, "--no-new-privs", ...line];
  const [program, inside] = sandbox.command(first, rest);
  const child = spawn(program, inside, {
    stdio: ["ignore", "inherit", "pipe"],
    env: { PATH: process.env["PATH"] ?? "" },
  });
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said += String(chunk);
  });
  const exit = once(child, "exit").then(([code]) => code as number | null);
  const socket = `${directory}/run/kubevirt/sockets/launcher-sock`;
  const ready = async (): Promise<LauncherProcess> => {
    const pid = await until("the launcher runs", () => findLauncher(child.pid ?? 0));
    return {
      pid,
      socket,
      log: () => said,
      signal: (signal) => process.kill(pid, signal),
      connect: async () => {
        await until("the launcher is ready", () => {
          if (child.exitCode !== null) throw new Error(`the launcher ended: ${said}`);
          return existsSync(socket) || undefined;
        });
        return await connectLauncher({ path: socket });
      },
      exit,
    };
  };
  return { child, ready: ready() };
}

/** Waits for something that takes its time. */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  timeout = 90_000,
): Promise<T> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`not in ${timeout} ms: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Processes below a process, from the process table. */
export function descendants(pid: number): readonly number[] {
  let children: number[];
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    children = text.split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
  return children.flatMap((child) => [child, ...descendants(child)]);
}

export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** Memory of a process in MiB: all of it, and the part that it does not share. */
export function memoryOf(pid: number): { readonly rss: number; readonly anonymous: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mebibytes = (field: string): number =>
    Math.round(Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 102.4) / 10;
  return { rss: mebibytes("VmRSS"), anonymous: mebibytes("RssAnon") };
}

function findLauncher(pid: number): number | undefined {
  return [pid, ...descendants(pid)].find((each) => commandOf(each).startsWith("/mnt/node"));
}
