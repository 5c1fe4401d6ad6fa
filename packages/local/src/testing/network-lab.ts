import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Pod } from "@virtkit/launcher-pod";
import {
  createLocalSandbox,
  type LocalSandbox,
  type LocalSandboxOptions,
} from "../local-sandbox.ts";
import { runTool, tryTool } from "../run-tool.ts";

/** A network beyond the host, and an address of the host that is not related to any Pod. */
export const lab = {
  namespace: "virtkit-test-outside",
  /** The host's end of the way there. */
  link: "outside0",
  host: "198.51.100.1",
  outside: "198.51.100.2",
  /** Like the address where a cloud hands out the credentials of its hosts; not the same one, which the host may need. */
  metadata: "169.254.87.87",
  host6: "2001:db8:15::1",
  outside6: "2001:db8:15::2",
  /** On a link of its own. */
  otherLink: "other0",
  other: "203.0.113.7",
} as const;

/** Creates the outside network; {@link removeLab} removes it. */
export async function createLab(): Promise<void> {
  await removeLab();
  await runTool("ip", ["netns", "add", lab.namespace]);
  await runTool("ip", ["-batch", "-"], {
    input: [
      `link add ${lab.link} type veth peer name eth0 netns ${lab.namespace}`,
      // No automatic address, which would appear at an unpredictable time.
      `link set ${lab.link} addrgenmode none`,
      `addr add ${lab.host}/24 dev ${lab.link}`,
      `addr add ${lab.host6}/64 dev ${lab.link} nodad`,
      `link set ${lab.link} up`,
      `route add ${lab.metadata} via ${lab.outside}`,
      `link add ${lab.otherLink} type bridge`,
      `link set ${lab.otherLink} addrgenmode none`,
      `addr add ${lab.other}/32 dev ${lab.otherLink}`,
      `link set ${lab.otherLink} up`,
    ].join("\n"),
  });
  await runTool("ip", ["-n", lab.namespace, "-batch", "-"], {
    input: [
      "link set lo up",
      `addr add ${lab.outside}/24 dev eth0`,
      `addr add ${lab.metadata}/32 dev lo`,
      `addr add ${lab.outside6}/64 dev eth0 nodad`,
      "link set eth0 up",
      // A neighbour that has a route to Pods, as any host on the network can.
      `route add 10.87.0.0/16 via ${lab.host}`,
    ].join("\n"),
  });
  await untilUp();
  // The default route's link gets this from local mode; this link is the test's own.
  await runTool("sysctl", ["-w", `net.ipv4.conf.${lab.link}.forwarding=1`]);
}

/** The kernel takes a while to notice that a link's other end is up, and adds some of its routes only then. */
async function untilUp(): Promise<void> {
  const deadline = Date.now() + 30_000;
  const isUp = async (): Promise<boolean> => {
    const { stdout } = await tryTool("ip", ["route", "show", "table", "all", "dev", lab.link]);
    const routes = stdout.split("\n");
    const isLocal = routes.some((route) => route.startsWith(`local ${lab.host6} `));
    return isLocal && !stdout.includes("linkdown");
  };
  while (!(await isUp())) {
    if (Date.now() > deadline) throw new Error(`${lab.link} does not come up`);
    await sleep(20);
  }
}

/** Undoes {@link createLab}. */
export async function removeLab(): Promise<void> {
  for (const link of [lab.link, lab.otherLink]) await tryTool("ip", ["link", "delete", link]);
  await tryTool("ip", ["netns", "delete", lab.namespace]);
}

const pod: Pod = {
  metadata: { name: "virt-launcher-demo", namespace: "default" },
  spec: {
    volumes: [{ name: "public", emptyDir: {} }],
    containers: [
      {
        name: "compute",
        command: ["/usr/bin/virtkit-launcher"],
        resources: {},
        volumeMounts: [{ name: "public", mountPath: "/var/run/kubevirt" }],
      },
    ],
  },
};

/** A Pod whose launcher is a stand-in: only its network matters. */
export async function createPod(
  options: Pick<LocalSandboxOptions, "stateDirectory" | "podUid" | "published" | "network">,
): Promise<LocalSandbox> {
  const launcher = fileURLToPath(new URL("stand-in.mjs", import.meta.url));
  return await createLocalSandbox({
    ...options,
    pod,
    launcher,
    limits: { memoryBytes: 512 << 20, pids: 300 },
  });
}

/** Runs a shell in a network namespace, as root there: more than a guest or a launcher can. */
export async function shellIn(namespace: string, script: string): Promise<string> {
  const { stdout } = await tryTool("nsenter", [
    `--net=/run/netns/${namespace}`,
    "sh",
    "-c",
    script,
  ]);
  return stdout;
}

/** Answers with the client's address, over TCP and UDP on every address, until it is killed. */
const server = `
const [port] = process.argv.slice(1).map(Number);
const tcp = require("net").createServer((s) => s.on("error", () => {}).end("reached from " + s.remoteAddress));
const udp = require("dgram").createSocket("udp6");
udp.on("message", (m, from) => udp.send("reached from " + from.address, from.port, from.address));
udp.bind(port, "::", () => tcp.listen(port, "::", () => console.log("listening")));
`;

/** Starts {@link server} in a namespace; resolves when it listens. */
export async function serveIn(namespace: string, port: number): Promise<ChildProcess> {
  const args = [`--net=/run/netns/${namespace}`, process.execPath, "-e", server, `${port}`];
  const child = spawn("nsenter", args, { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return child;
}

const client = `
const [protocol, address, port, from] = process.argv.slice(1);
const end = (text) => { console.log(text); process.exit(); };
setTimeout(end, 1500, "silence");
if (protocol === "tcp") {
  const socket = require("net").connect({ host: address, port: Number(port) });
  let text = "";
  socket.on("data", (d) => { text += d; }).on("error", (e) => end(e.code)).on("close", () => end(text));
} else {
  const socket = require("dgram").createSocket(address.includes(":") ? "udp6" : "udp4");
  socket.on("message", (m) => end(String(m))).on("error", (e) => end(e.code));
  socket.bind(0, from, () => socket.send("hello", Number(port), address));
}
`;

/** What a request from a namespace to an address gets: an answer, a refusal, or silence. */
export async function askFrom(
  namespace: string | undefined,
  address: string,
  port: number,
  { protocol = "tcp", from }: { protocol?: "tcp" | "udp"; from?: string } = {},
): Promise<string> {
  const line = [process.execPath, "-e", client, protocol, address, `${port}`];
  if (from !== undefined) line.push(from);
  const enter = namespace === undefined ? [] : ["nsenter", `--net=/run/netns/${namespace}`];
  const [command = "", ...args] = [...enter, ...line];
  return (await tryTool(command, args)).stdout.trim();
}

/** The parts of the host's network that a Pod must leave as they were. */
export async function hostNetwork(): Promise<unknown> {
  const settings = [
    ...["ipv4/ip_forward", "ipv4/conf/all/route_localnet", "ipv4/conf/default/route_localnet"],
    ...["ipv6/conf/all/forwarding", "ipv6/conf/all/disable_ipv6", "ipv4/conf/all/rp_filter"],
  ].map((name) => [name, readFileSync(`/proc/sys/net/${name}`, "utf8").trim()]);
  const { stdout: rules } = await tryTool("nft", ["list", "ruleset"]);
  const { stdout: links } = await tryTool("ip", ["-br", "address"]);
  const { stdout: routes } = await tryTool("ip", ["route", "show", "table", "all"]);
  const uplink = /^default .*\bdev (\S+)/m.exec(routes)?.[1] ?? "lo";
  const forwarding = readFileSync(`/proc/sys/net/ipv4/conf/${uplink}/forwarding`, "utf8");
  return { settings, rules, links, routes: routes.split("\n").sort(), forwarding };
}
