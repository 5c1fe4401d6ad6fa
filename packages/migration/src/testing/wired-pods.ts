import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Interface, VirtualMachineInstance } from "@virtkit/api/schema";
import {
  createNetworkNamespace,
  deleteNetworkNamespace,
  type Namespace,
} from "@virtkit/host-primitives/namespaces";
import { openJournal, openPodNetwork, wirePod } from "@virtkit/network-setup/apply";
import type { DomainNic } from "@virtkit/network-setup/plan";
import { openGuestSockets, startGuestServers } from "@virtkit/network-setup/serve";

const client = fileURLToPath(new URL("./echo-client.mjs", import.meta.url));

/** The guest's MAC address, which both Pods give it. */
export const mac = "02:00:00:4d:49:47";

const switchMac = "02:00:00:4d:49:01";

/** Where a client on the network is. */
export const clientAddress = "10.244.7.1";

type Pod = "a" | "b";

/** A network with a client on it, and the Pods of both nodes; their interfaces are joined by a switch. */
export class WiredPods implements AsyncDisposable {
  readonly #stem = `vkm${process.pid.toString(36)}`;
  readonly #directory = mkdtempSync(join(tmpdir(), "virtkit-wired-"));
  readonly #namespaces = new Map<string, Namespace>();
  readonly #closing: (() => unknown)[] = [];

  static async start(): Promise<WiredPods> {
    const pods = new WiredPods();
    try {
      for (const name of ["lan", "a", "b"]) {
        pods.#namespaces.set(name, await createNetworkNamespace(pods.#name(name)));
      }
      // Its own address: otherwise it takes the lowest one of its ports, and a port that is added later may change it. The
      // kernel then forgets its neighbours, asks for the guest's address again, and a Pod that has the same one and is
      // not wired yet answers before a guest that is slow: it knows no connection, and resets it.
      pods.on("lan", `ip link add sw0 address ${switchMac} type bridge`);
      pods.on("lan", "ip link set lo up; ip link set sw0 up");
      pods.on("lan", `ip address add ${clientAddress}/24 dev sw0`);
      return pods;
    } catch (error) {
      await pods[Symbol.asyncDispose]();
      throw error;
    }
  }

  #name(name: string): string {
    return `${this.#stem}${name}`;
  }

  /** The path by which a libvirtd joins a Pod's network. */
  path(pod: Pod): string {
    return `/run/netns/${this.#name(pod)}`;
  }

  /** What the CNI does: a Pod gets an interface with an address. */
  plugIn(pod: Pod, address: string): void {
    const peer = `type veth peer name eth0 netns ${this.#name(pod)}`;
    this.on("lan", `ip link add p${pod} ${peer} && ip link set p${pod} master sw0 up`);
    this.on(pod, "ip link set lo up; ip link set eth0 up");
    this.on(
      pod,
      `ip address add ${address}/24 dev eth0; ip route add default via ${clientAddress}`,
    );
  }

  /** Runs a command in one of the networks, and returns its output. */
  on(where: "lan" | Pod, command: string): string {
    const args = [`--net=/run/netns/${this.#name(where)}`, "sh", "-c", command];
    return execFileSync("nsenter", args, { encoding: "utf8", timeout: 30_000 });
  }

  /** Connects a Pod's network to the guest and serves DHCP, as node agent and launcher do. */
  async wire(pod: Pod, binding: Omit<Interface, "name">): Promise<DomainNic> {
    const namespace = this.#namespaces.get(pod);
    if (!namespace) throw new Error(`there is no Pod ${pod}`);
    const network = await openPodNetwork(namespace);
    this.#closing.push(() => network[Symbol.dispose]());
    const journal = openJournal(`${this.#directory}/journal-${pod}`, "guest");
    const vmi = {
      metadata: { name: "vm", namespace: "default", uid: "b7b0" },
      spec: {
        domain: { devices: { interfaces: [{ name: "default", macAddress: mac, ...binding }] } },
        networks: [{ name: "default", pod: {} }],
      },
      status: { runtimeUser: 107, migrationTransport: "Unix" },
    } as VirtualMachineInstance;
    const [plan] = await wirePod(vmi, network, { journal, primaryFamily: "ipv4" });
    const { domain, dhcp } = plan?.bindings[0] ?? {};
    if (!domain || !dhcp) throw new Error("the plan has no guest");
    const identity = {
      mac: domain.mac,
      hostname: "vm",
      resolvConf: { ipv4: [], ipv6: [], searchDomains: [] },
    };
    const servers = await startGuestServers(await openGuestSockets(network, dhcp), dhcp, identity);
    this.#closing.push(() => servers[Symbol.asyncDispose]());
    return domain;
  }

  /** Opens a connection from the network, and keeps it. */
  openConnection(address: string, port: number): OpenConnection {
    const net = `--net=/run/netns/${this.#name("lan")}`;
    const child = spawn("nsenter", [net, process.execPath, client, address, String(port)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const connection = new OpenConnection(child);
    this.#closing.push(() => connection.close());
    return connection;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
    for (const [name, namespace] of this.#namespaces) {
      namespace.close();
      deleteNetworkNamespace(this.#name(name));
    }
    this.#namespaces.clear();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** A TCP connection with continuous requests and answers. */
export class OpenConnection {
  /** Answers so far, in order and without a gap. */
  answers = 0;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout?.on("data", (chunk) => {
      this.answers += String(chunk).split("\n").length - 1;
    });
  }

  get isOpen(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  close(): void {
    this.#child.kill("SIGKILL");
  }
}
