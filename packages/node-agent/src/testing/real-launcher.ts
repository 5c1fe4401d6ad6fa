import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "@virtkit/api/clock";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { GuestEvent } from "@virtkit/domain-manager";
import { createSandbox, guestCommandLine, guestImage, type Sandbox } from "@virtkit/lab";
import { connectLauncher, type LauncherClient, launcherNodeFlags } from "@virtkit/launcher/client";
import { ContainerCgroup } from "./container-cgroup.ts";

const repository = resolve(dirname(fileURLToPath(import.meta.url)), "../../../..");
const user = 107;

/** The spec of a VMI that boots the lab's guest, with a network behind masquerade. */
export const realSpec = {
  domain: {
    memory: { guest: "256Mi" },
    cpu: { cores: 1, model: "qemu64" },
    firmware: {
      kernelBoot: {
        container: { kernelPath: "/vmlinuz", initrdPath: "/initrd", image: "lab" },
        kernelArgs: `${guestCommandLine} hb=none`,
      },
    },
    devices: { interfaces: [{ name: "default", model: "virtio", masquerade: {} }] },
  },
  networks: [{ name: "default", pod: {} }],
  terminationGracePeriodSeconds: 60,
} as unknown as VirtualMachineInstance["spec"];

/** Whose launcher it is. */
export interface LauncherOwner {
  readonly name: string;
  readonly uid: string;
  readonly podUid: string;
}

/** A launcher with a real libvirt and QEMU, in the cgroup and the namespaces that a kubelet would give it. */
export class RealLauncher implements AsyncDisposable {
  readonly cgroup: ContainerCgroup;
  /** Everything that its guest went through, as it reported to this test, which no agent can end. */
  readonly events: GuestEvent[] = [];
  readonly #directory: string;
  readonly #sandbox: Sandbox;
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  #client: LauncherClient | undefined;

  private constructor(directory: string, sandbox: Sandbox, owner: LauncherOwner) {
    this.#directory = directory;
    this.#sandbox = sandbox;
    this.cgroup = new ContainerCgroup(owner.podUid);
    const [program, args] = sandbox.command("unshare", launcherArguments(directory, owner));
    const join = 'echo $$ > "$0"; exec "$@"';
    this.#child = spawn("sh", ["-c", join, this.cgroup.processFile, program, ...args], {
      stdio: ["ignore", "ignore", "ignore"],
      env: { PATH: process.env["PATH"] ?? "" },
    });
    this.#exit = once(this.#child, "exit");
  }

  /** Resolves when the launcher listens. */
  static async start(owner: LauncherOwner): Promise<RealLauncher> {
    const directory = mkdtempSync(join(tmpdir(), "virtkit-kills-"));
    const guest = dirname((await guestImage()).kernel);
    const setup = [...deviceLines, ...networkLines, ...folderLines(directory, guest)];
    const sandbox = await createSandbox({ hostname: "launcher", network: "own", setup });
    const launcher = new RealLauncher(directory, sandbox, owner);
    await launcher.#follow();
    return launcher;
  }

  /** Queries the guest's agent until it answers. */
  async inGuest(script: string): Promise<string> {
    const said = await until(
      async () => {
        const ran = this.#client?.exec({ command: "/bin/sh", args: ["-c", script] });
        // An agent that is not up yet: it is queried again.
        return await ran?.then(
          ({ stdout }) => stdout.trim(),
          () => undefined,
        );
      },
      { interval: 100, timeout: 90_000 },
    );
    if (said === undefined) throw new Error(`the guest did not answer "${script}" within 90 s`);
    return said;
  }

  /** The QEMUs in its cgroup: more than one would be more than one copy. */
  get guests(): readonly string[] {
    return this.cgroup.processes("qemu-system");
  }

  /** The states that the guest has had, one after the other. */
  get states(): readonly string[] {
    const all = this.events.flatMap((event) => (event.kind === "status" ? event.status.state : []));
    return all.filter((state, at) => state !== all[at - 1]);
  }

  /** Why it was in them. */
  get reasons(): readonly string[] {
    return this.events.flatMap((event) => (event.kind === "status" ? event.status.reason : []));
  }

  /** How often its guest was started. */
  get starts(): number {
    return this.events.filter((event) => event.kind === "stage" && event.stage === "guest-running")
      .length;
  }

  /** Hotplugged volumes in its sandbox. */
  get plugged(): readonly string[] {
    const [pid] = readFileSync(this.cgroup.processFile, "utf8").split("\n");
    return readdirSync(`/proc/${pid}/root/run/kubevirt/hotplug-disks`);
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async #follow(): Promise<void> {
    const path = `${this.#directory}/run/kubevirt/sockets/launcher-sock`;
    const isThere = await until(() => this.hasEnded || existsSync(path), {
      interval: 20,
      timeout: 60_000,
    });
    if (!isThere || this.hasEnded) throw new Error("the launcher is not ready");
    const client = await connectLauncher({ path });
    this.#client = client;
    const follow = async (): Promise<void> => {
      for await (const event of client.events()) this.events.push(event);
    };
    // It ends with the launcher.
    void follow().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.close();
    if (!this.hasEnded) this.#child.kill("SIGKILL");
    await this.#exit;
    await this.#sandbox[Symbol.asyncDispose]();
    this.cgroup[Symbol.dispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Its own devices: what the agent gives to the launcher's user must not belong to the host. */
const deviceLines = [
  "mount -t tmpfs -o mode=755 dev /dev",
  "mkdir /dev/net /dev/pts /dev/shm",
  "mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts /dev/pts",
  "mount -t tmpfs -o mode=1777 shm /dev/shm",
  "ln -s pts/ptmx /dev/ptmx; ln -s /proc/self/fd /dev/fd",
  ...["null 1 3", "zero 1 5", "full 1 7", "random 1 8", "urandom 1 9", "tty 5 0"].map((each) => {
    const [name, ...numbers] = each.split(" ");
    return `mknod -m 666 /dev/${name} c ${numbers.join(" ")}`;
  }),
  "mknod -m 600 /dev/net/tun c 10 200",
];

const networkLines = [
  "ip link add eth0 type veth peer name peer0",
  "ip addr add 10.244.7.2/24 dev eth0",
  "ip link set peer0 up; ip link set eth0 up",
  "ip route add default via 10.244.7.1",
];

/** What a kubelet mounts into a launcher's container; the kernel of the guest is an image volume. */
function folderLines(directory: string, guest: string): readonly string[] {
  const run = `${directory}/run`;
  const capabilities = join(dirname(guest), "libvirt-capabilities");
  const folders = [
    "kubevirt/sockets",
    "kubevirt/hotplug-disks",
    "kubevirt-private",
    "kubevirt-ephemeral-disks",
    "libvirt",
  ];
  const files = {
    hosts: "127.0.0.1 localhost launcher",
    "nsswitch.conf": "hosts: files\npasswd: files\ngroup: files",
    passwd: "root:x:0:0:root:/root:/bin/sh\nqemu:x:107:107:qemu:/:/sbin/nologin",
    group: "root:x:0:\nqemu:x:107:",
    "resolv.conf": "nameserver 10.96.0.10",
  };
  const write = ([name, text]: [string, string]): string =>
    `printf '%s\\n' '${text}' > ${directory}/${name}; mount --bind ${directory}/${name} /etc/${name}`;
  return [
    `mkdir -p ${folders.map((folder) => `${run}/${folder}`).join(" ")}`,
    `mkdir -p ${run}/kubevirt-kernel-boot; : > ${directory}/termination-log`,
    ...Object.entries(files).map(write),
    `chmod 755 ${directory}; chown -R ${user}:${user} ${directory}`,
    "mount -t tmpfs -o mode=755 lab /mnt",
    "mkdir /mnt/repository /mnt/capabilities; touch /mnt/node",
    `mount --bind ${repository} /mnt/repository`,
    `[ ! -d ${capabilities} ] || mount --bind ${capabilities} /mnt/capabilities`,
    `mount --bind ${process.execPath} /mnt/node`,
    `mount -o ro,bind ${guest} ${run}/kubevirt-kernel-boot`,
    `mount --rbind ${run} /run`,
  ];
}

function launcherArguments(directory: string, { name, uid, podUid }: LauncherOwner): string[] {
  return [
    ...["--pid", "--fork", "--kill-child", "--mount-proc"],
    ...["setpriv", "--reuid", `${user}`, "--regid", `${user}`, "--clear-groups"],
    ...["--bounding-set=-all,+net_bind_service", "--no-new-privs"],
    ...["/mnt/node", ...launcherNodeFlags],
    "/mnt/repository/packages/launcher/bin/virtkit-launcher.js",
    ...["--name", name, "--namespace", "default", "--uid", uid, "--pod-uid", podUid],
    ...["--allow-emulation", "--capabilities-cache", "/mnt/capabilities"],
    ...["--termination-message", `${directory}/termination-log`],
  ];
}
