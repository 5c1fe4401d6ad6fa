import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createNetworkNamespace,
  deleteNetworkNamespace,
  type Namespace,
} from "@virtkit/host-primitives/namespaces";
import { openPodNetwork, type PodNetwork } from "../apply/pod-network.ts";

/** Two network namespaces, a node and a Pod on it, joined by Debian's CNI plugins. */
export type CniPod = AsyncDisposable & {
  readonly network: PodNetwork;
  readonly namespace: Namespace;
  /** A directory of the test on the host. */
  readonly directory: string;
  readonly podIps: readonly string[];
  /** Runs a program in one of the namespaces and returns what it printed. */
  inPod(command: string): string;
  inNode(command: string): string;
  /** Lets a CNI plugin add one more interface, as Multus would. */
  attach(name: string, ipam?: object): void;
  /** The path by which other programs open the Pod's namespace. */
  readonly path: string;
};

/** Addresses of the Pod's first interface. */
export interface CniPodOptions {
  readonly mtu?: number;
  readonly families?: readonly ("ipv4" | "ipv6")[];
}

const pluginDirectory = "/usr/lib/cni";
let made = 0;

/** Creates a Pod as a kubelet would: a namespace, then the CNI's bridge and host-local. */
export async function createCniPod({
  mtu = 1450,
  families = ["ipv4", "ipv6"],
}: CniPodOptions = {}): Promise<CniPod> {
  const stem = `vkns${process.pid.toString(36)}${(made++).toString(36)}`;
  const [node, pod] = [`${stem}n`, `${stem}p`];
  const directory = mkdtempSync(join(tmpdir(), "virtkit-ns-"));
  const nodeNamespace = await createNetworkNamespace(node);
  const namespace = await createNetworkNamespace(pod);
  const run = (name: string, command: string, input?: string): string =>
    execFileSync("nsenter", [`--net=/run/netns/${name}`, "sh", "-c", command], {
      encoding: "utf8",
      ...(input === undefined ? {} : { input }),
      stdio: ["pipe", "pipe", "pipe"],
    });
  const attach = (bridge: string, name: string, ipam: object): void => {
    const config = { cniVersion: "1.0.0", name: bridge, type: "bridge", bridge, mtu, ipam };
    const env = [
      "CNI_COMMAND=ADD",
      `CNI_CONTAINERID=${stem}`,
      `CNI_NETNS=/run/netns/${pod}`,
      `CNI_IFNAME=${name}`,
      `CNI_PATH=${pluginDirectory}`,
    ].join(" ");
    const gateway = { isDefaultGateway: true, hairpinMode: false };
    const json = JSON.stringify({ ...config, ...(Object.keys(ipam).length > 0 ? gateway : {}) });
    run(node, `${env} ${pluginDirectory}/bridge`, json);
  };
  run(node, "ip link set lo up");
  run(pod, "ip link set lo up");
  const subnets = { ipv4: "10.244.7.0/24", ipv6: "fd00:10:244:7::/64" };
  attach("cni0", "eth0", {
    type: "host-local",
    dataDir: join(directory, "ipam"),
    ranges: families.map((family) => [{ subnet: subnets[family] }]),
  });
  const network = await openPodNetwork(namespace);
  const addresses = run(pod, "ip -o addr show dev eth0 scope global");
  return {
    network,
    namespace,
    directory,
    path: `/run/netns/${pod}`,
    podIps: [...addresses.matchAll(/inet6? (\S+)\//g)].map(([, ip = ""]) => ip),
    inPod: (command) => run(pod, command),
    inNode: (command) => run(node, command),
    attach: (name, ipam = {}) => attach(`b${name}`.slice(0, 15), name, ipam),
    async [Symbol.asyncDispose]() {
      network[Symbol.dispose]();
      namespace.close();
      nodeNamespace.close();
      deleteNetworkNamespace(pod);
      deleteNetworkNamespace(node);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
