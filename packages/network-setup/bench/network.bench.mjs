import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  createNetworkNamespace,
  deleteNetworkNamespace,
  stopNamespaceHelper,
} from "@virtkit/host-primitives/namespaces";
import { openSocket } from "@virtkit/host-primitives/sockets";
import { openJournal, openPodNetwork, unwirePod, wirePod } from "@virtkit/network-setup/apply";
import { dhcp4Responder } from "@virtkit/network-setup/dhcp";
import { operationText } from "@virtkit/network-setup/plan";
import { startGuestServers } from "@virtkit/network-setup/serve";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Benchmark} Benchmark */
/** @typedef {Parameters<typeof wirePod>[0]} VirtualMachineInstance */

const name = `vkbenchns${process.pid}`;

/** @returns {VirtualMachineInstance} */
const vmi = () => ({
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata: { name: "bench" },
  spec: {
    domain: { devices: { interfaces: [{ name: "default", masquerade: {} }] } },
    networks: [{ name: "default", pod: {} }],
  },
  status: { runtimeUser: 107, migrationTransport: "Unix" },
});

/** @param {string} command @param {readonly string[]} args */
const child = (command, args) =>
  execFileSync("nsenter", [`--net=/run/netns/${name}`, command, ...args], { stdio: "ignore" });

async function makePod() {
  const directory = mkdtempSync(path.join(tmpdir(), "virtkit-bench-"));
  const namespace = await createNetworkNamespace(name);
  const script = `ip link set lo up; ip link add eth0 mtu 1450 type veth peer name node0
    ip addr add 10.244.1.5/24 dev eth0; ip link set node0 up; ip link set eth0 up
    ip route add default via 10.244.1.1`;
  child("sh", ["-ec", script]);
  const network = await openPodNetwork(namespace);
  return { directory, namespace, network, journal: openJournal(directory, "bench") };
}

/** @type {ReturnType<typeof makePod> | undefined} */
let pod;

/** A Pod's namespace in the state that the CNI leaves it. */
async function unwired() {
  pod ??= makePod();
  const made = await pod;
  await unwirePod(made.network, made);
  try {
    child("sh", ["-c", "ip link del k6t-eth0; ip link del tap0; nft flush ruleset; true"]);
  } catch {}
  return made;
}

async function close() {
  const made = await pod;
  pod = undefined;
  if (!made) return;
  made.network[Symbol.dispose]();
  made.namespace.close();
  deleteNetworkNamespace(name);
  rmSync(made.directory, { recursive: true, force: true });
  await stopNamespaceHelper();
}

/** The plan's steps as programs do them: one `ip`, `sysctl` or `nft` each. @param {string} line */
function byProgram(line) {
  const [verb = "", link = "", ...rest] = line.split(" ");
  if (verb === "add") return child("nft", line.split(" "));
  if (verb === "sysctl") return child("sh", ["-c", sysctl(link)]);
  if (verb === "link-add") return child("ip", ["link", "add", link, ...rest]);
  if (verb === "link-set") return child("ip", ["link", "set", link, ...rest]);
  if (verb === "addr-add") return child("ip", ["addr", "add", link, ...rest]);
  child("ip", ["tuntap", "add", link, "mode", "tap", "vnet_hdr", "user", "107", "group", "107"]);
  return child("ip", ["link", "set", link, "mtu", "1450"]);
}

/** @param {string} setting */
function sysctl(setting) {
  const [key = "", value = ""] = setting.split("=");
  return `echo ${value} > /proc/sys/${key.replaceAll(".", "/")}`;
}

/** @type {string[]} */
let lines = [];

/** @type {Benchmark} */
const wiring = {
  name: "network: from Pod NIC to guest NIC, masquerade",
  subject: {
    name: "wirePod: discover, plan, journal, apply",
    prepare: unwired,
    run: async ({ network, journal }) => {
      const [plan] = await wirePod(vmi(), network, { journal });
      lines = (plan?.steps ?? []).flatMap(({ operation }) => operationText(operation));
      return 1;
    },
  },
  baseline: {
    name: "the same steps by ip and nft",
    prepare: unwired,
    run: () => {
      for (const line of lines) byProgram(line);
      return 1;
    },
  },
  clock: "wall",
  goal: "at least 3 x",
  available: () => process.getuid?.() === 0 || "needs root",
  close,
};

const mac = "02:00:00:00:00:01";
const packet = Buffer.alloc(300);
packet.set([1, 1, 6, 0, 0xde, 0xad, 0xbe, 0xef]);
packet.set([2, 0, 0, 0, 0, 1], 28);
packet.set([99, 130, 83, 99, 53, 1, 1, 255], 236);

const config = {
  name: "eth0",
  mac,
  mtu: 1450,
  ip: "10.0.2.2/24",
  ipv6: "",
  gateway: "10.0.2.1",
  serverIp: "10.0.2.1",
  serverIpv6: "",
  routes: [],
  subdomain: "",
  disabled: false,
};
const resolvConf = { ipv4: ["10.96.0.10"], ipv6: [], searchDomains: ["default.svc.cluster.local"] };

/** @type {Benchmark} */
const answers = {
  name: "network: DHCPv4 answers, without a socket",
  subject: {
    name: "dhcp4Responder",
    prepare: () =>
      dhcp4Responder({
        clientMac: mac,
        clientIp: config.ip,
        serverIp: config.serverIp,
        routerIp: config.gateway,
        nameservers: resolvConf.ipv4,
        searchDomains: resolvConf.searchDomains,
        mtu: config.mtu,
        hostname: "vm",
      }),
    run: (respond) => {
      for (let n = 0; n < 1000; n++) respond(packet, { address: "0.0.0.0", port: 68 });
      return 1000;
    },
  },
};

async function startServer() {
  const dhcp4 = openSocket({ kind: "udp4", address: "127.0.0.1", port: 0 });
  const probe = createSocket("udp4").bind(0, "127.0.0.1");
  await once(probe, "listening");
  const port = portOf(dhcp4.fd);
  const servers = { link: "lo", config };
  const identity = { mac, hostname: "vm", resolvConf };
  const running = await startGuestServers({ dhcp4, serverMac: mac }, servers, identity);
  return { probe, port, running };
}

/** @param {number} fd */
function portOf(fd) {
  const inode = readlinkSync(`/proc/self/fd/${fd}`);
  const table = readFileSync("/proc/net/udp", "utf8");
  const number = /\d+/.exec(inode)?.[0] ?? "";
  const line = table.split("\n").find((row) => row.split(/\s+/).includes(number)) ?? "";
  return Number.parseInt(/:([0-9A-F]{4})/.exec(line.replace(/^\s*\d+:/, ""))?.[1] ?? "0", 16);
}

/** @type {ReturnType<typeof startServer> | undefined} */
let server;

/** @type {Benchmark} */
const served = {
  name: "network: DHCPv4 answers, over a socket",
  subject: {
    name: "startGuestServers",
    prepare: () => {
      server ??= startServer();
      return server;
    },
    run: async ({ probe, port }) => {
      for (let n = 0; n < 50; n++) {
        let left = 20;
        const done = new Promise((resolve) => {
          probe.on("message", () => --left === 0 && resolve(undefined));
        });
        for (let sent = 0; sent < 20; sent++) probe.send(packet, port, "127.0.0.1");
        await done;
        probe.removeAllListeners("message");
      }
      return 1000;
    },
  },
  clock: "wall",
  goal: "printed",
  available: () => process.platform === "linux" || "needs Linux",
  close: async () => {
    const started = await server;
    server = undefined;
    started?.probe.close();
    await started?.running[Symbol.asyncDispose]();
  },
};

/** @type {Benchmark[]} */
export const benchmarks = [wiring, answers, served];
