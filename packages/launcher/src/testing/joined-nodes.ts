import { link, mkdir, writeFile } from "node:fs/promises";
import { until } from "@virtkit/api/clock";
import { guestDomainXml, type Libvirtd, runProgram, startLibvirtd } from "@virtkit/lab";

/** The guest's domain on both nodes. */
export const domain = { name: "ns_vm", uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223" } as const;

/** A sandbox with its own libvirtd and network. */
export interface JoinedNode {
  readonly name: "a" | "b";
  readonly daemon: Libvirtd;
  readonly network: string;
  readonly address: string;
  /** The domain as this node starts it, with its own paths. */
  readonly definition: string;
}

/** Two nodes whose networks a veth pair connects, a disk that each has under its own path, and a guest. */
export class JoinedNodes implements AsyncDisposable {
  readonly #nodes: JoinedNode[] = [];

  static async start(): Promise<JoinedNodes> {
    const joined = new JoinedNodes();
    try {
      await joined.#join();
      for (const name of ["a", "b"] as const) joined.#nodes.push(await startNode(name));
      const [a, b] = joined.both;
      await writeFile(`${a.daemon.directory}/disk.raw`, Buffer.alloc(1024 * 1024), { mode: 0o666 });
      await runProgram("chown", ["107:107", `${a.daemon.directory}/disk.raw`]);
      await link(`${a.daemon.directory}/disk.raw`, `${b.daemon.directory}/disk.raw`);
      await writeFile(`${a.daemon.directory}/domain.xml`, a.definition);
      await a.daemon.virsh("define", `${a.daemon.directory}/domain.xml`);
      await a.daemon.virsh("start", domain.name);
      return joined;
    } catch (error) {
      await joined[Symbol.asyncDispose]();
      throw error;
    }
  }

  get both(): readonly [JoinedNode, JoinedNode] {
    return this.#nodes as unknown as [JoinedNode, JoinedNode];
  }

  /** The names of the nodes on which the guest's vCPUs run. */
  async running(): Promise<readonly string[]> {
    const lists = this.#nodes.map(({ daemon }) => daemon.virsh("list", "--name"));
    const states = this.#nodes.map(async ({ name, daemon }, index) => {
      if (!(await lists[index])?.includes(domain.name)) return [];
      return (await daemon.virsh("domstate", domain.name)) === "running" ? [name] : [];
    });
    return (await Promise.all(states)).flat();
  }

  /** Limits what each node sends. */
  async limit(rate: string): Promise<void> {
    for (const { name } of this.#nodes) {
      const limit = ["root", "tbf", "rate", rate, "burst", "256k", "latency", "50ms"];
      await inNetwork(name, "tc", "qdisc", "replace", "dev", "wire", ...limit);
    }
  }

  async #join(): Promise<void> {
    for (const name of ["a", "b"]) await runProgram("ip", ["netns", "add", networkName(name)]);
    const ends = ["netns", networkName("a"), "type", "veth", "peer", "name", "wire"];
    await runProgram("ip", ["link", "add", "wire", ...ends, "netns", networkName("b")]);
    for (const name of ["a", "b"]) {
      await inNetwork(name, "ip", "address", "add", `${addressOf(name)}/24`, "dev", "wire");
      for (const device of ["lo", "wire"]) await inNetwork(name, "ip", "link", "set", device, "up");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { daemon } of this.#nodes.splice(0)) await daemon[Symbol.asyncDispose]();
    for (const name of ["a", "b"]) {
      // One that was not created need not be ended.
      await runProgram("ip", ["netns", "delete", networkName(name)]).catch(() => {});
    }
  }
}

/** Runs a command in the guest by its agent, and gives what it printed. Asked until the agent answers. */
export async function inGuest({ daemon }: JoinedNode, script: string): Promise<string> {
  const found = await until(() => ask(daemon, script).catch(() => undefined), {
    interval: 300,
    timeout: 90_000,
  });
  if (found === undefined) throw new Error("the guest's agent has not answered in 90 s");
  return found;
}

async function ask(daemon: Libvirtd, script: string): Promise<string | undefined> {
  const call = async (execute: string, args: object): Promise<Record<string, unknown>> => {
    const command = JSON.stringify({ execute, arguments: args });
    const options = ["--timeout", "5", domain.name, command];
    return JSON.parse(await daemon.virsh("qemu-agent-command", ...options)).return;
  };
  const program = { path: "/bin/sh", arg: ["-c", script], "capture-output": true };
  const { pid } = await call("guest-exec", program);
  const ended = await until(
    async () => {
      const status = await call("guest-exec-status", { pid });
      return status["exited"] === true && status;
    },
    { interval: 50, timeout: 10_000 },
  );
  return ended ? Buffer.from(String(ended["out-data"] ?? ""), "base64").toString() : undefined;
}

const networkName = (node: string): string => `virtkit-${process.pid}-${node}`;
const addressOf = (node: string): string => (node === "a" ? "10.77.0.1" : "10.77.0.2");

async function inNetwork(node: string, program: string, ...args: string[]): Promise<void> {
  await runProgram("ip", ["netns", "exec", networkName(node), program, ...args]);
}

async function startNode(name: "a" | "b"): Promise<JoinedNode> {
  const network = `/run/netns/${networkName(name)}`;
  const daemon = await startLibvirtd({ hostname: `node-${name}`, network: { path: network } });
  const { directory } = daemon;
  await mkdir(`${directory}/state`);
  const definition = guestDomainXml({
    ...domain,
    guest: await daemon.guest(),
    memoryMiB: 256,
    cmdline: "hb=none",
    serial: `<serial type='file'><source path='${directory}/serial.log' append='on'/>`,
    devices: `<disk type='file' device='disk'><driver name='qemu' type='raw' cache='none'/>
      <source file='${directory}/disk.raw'/><target dev='vda' bus='virtio'/><alias name='ua-root'/></disk>`,
  });
  return { name, daemon, network, address: addressOf(name), definition };
}
