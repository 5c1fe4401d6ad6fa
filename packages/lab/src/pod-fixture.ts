import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A stand-in for a launcher's Pod: one process with its own namespaces and files. */
export type PodFixture = AsyncDisposable & {
  readonly podUid: string;
  /** The sandbox's first process. */
  readonly pid: number;
  /** A directory of the host: state of the agent, and the roots of containers. */
  readonly directory: string;
  readonly stateDirectory: string;
  /** Runs a shell command inside. */
  run(command: string): string;
  /** Mounts and files of the sandbox, to compare before and after. */
  state(): string;
  /** Ends the sandbox. */
  kill(): Promise<void>;
};

/** What a kubelet would have created: directories, device nodes, and a network with an address. */
const setUp = `set -e
mount --make-rprivate /
mount -t tmpfs none /run
mount -t tmpfs none /dev
mkdir -p /dev/net /run/kubevirt/container-disks /run/kubevirt/sockets
mkdir -p /run/kubevirt-private/vmi-disks/data
mknod -m 600 /dev/net/tun c 10 200
mknod -m 666 /dev/null c 1 3
ip link set lo up
ip link add eth0 type veth peer name peer0
ip addr add 10.244.7.2/24 dev eth0
ip link set peer0 up
ip link set eth0 up
ip route add default via 10.244.7.1
echo ready
exec cat > /dev/null`;

/** Files, our own mounts (those of others come and go here too), links, addresses, routes, NAT and settings. */
const showState = `find /run /dev -printf '%p %y %m %s\\n' | sort
awk '$5 ~ /kubevirt/ {print $4, $5, $6}' /proc/self/mountinfo
ip -o link | sed 's/ qlen.*//' | sort
ip -o addr | sed 's/ tentative//; s/valid_lft.*//'
ip route
nft list tables
sysctl net.ipv4.ip_forward`;

/** Creates a Pod with a container per image. Needs root. */
export async function createPod(
  images: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<PodFixture> {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-agent-"));
  for (const [path, content] of Object.entries(images)) {
    mkdirSync(join(directory, path, ".."), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  const kinds = ["--mount", "--uts", "--ipc", "--pid", "--net", "--mount-proc"];
  const holder = spawn("unshare", [...kinds, "--fork", "--kill-child", "sh", "-c", setUp], {
    // The Pod's process reads from this one, and ends with it in any case.
    stdio: ["pipe", "pipe", "pipe"],
  });
  await untilReady(holder);
  const children = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, "utf8");
  const pid = Number(children.trim());
  const run = (command: string): string => {
    const enter = ["-t", String(pid), "-m", "-n", "-p", "--", "sh", "-c", command];
    return execFileSync("nsenter", enter, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  };
  const kill = async (): Promise<void> => {
    if (holder.exitCode !== null || holder.signalCode !== null) return;
    // Its parent waits for the first process, and that one for all others inside.
    const ended = once(holder, "exit");
    process.kill(pid, "SIGKILL");
    await ended;
  };
  return {
    podUid: randomUUID(),
    pid,
    directory,
    stateDirectory: join(directory, "state"),
    run,
    state: () => run(showState),
    kill,
    async [Symbol.asyncDispose]() {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function untilReady(holder: ChildProcess): Promise<void> {
  let said = "";
  holder.stderr?.on("data", (chunk) => {
    said += String(chunk);
  });
  await new Promise((resolve, reject) => {
    holder.stdout?.once("data", resolve);
    holder.once("exit", () => reject(new Error(`the Pod could not be made: ${said}`)));
    holder.once("error", reject);
  });
  holder.removeAllListeners("exit");
}
