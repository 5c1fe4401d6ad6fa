import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { localNames } from "./local-names.ts";
import { createLocalNetwork, removeLocalNetwork } from "./local-network.ts";
import { type LocalSandbox, removeLocalSandbox } from "./local-sandbox.ts";
import { runTool, tryTool } from "./run-tool.ts";
import {
  askFrom,
  createLab,
  createPod,
  hostNetwork,
  lab,
  removeLab,
  serveIn,
  shellIn,
} from "./testing/network-lab.ts";

const uid = (digit: number): string => `${digit}5151515-90a1-4c3e-8d52-0d3b1c5a9e11`;
const port = 28_515;
const reached = expect.stringMatching(/^reached from /);
/** Silently dropped, or nothing to speak to. */
const notReached = expect.stringMatching(/^(silence|E[A-Z]+)$/);

let stateDirectory: string;
let before: unknown;
/** Two isolated ones, and two open ones as the control of every attack. */
let victim: LocalSandbox;
let isolated: LocalSandbox;
let open: LocalSandbox;
let openToo: LocalSandbox;
const servers: ChildProcess[] = [];

const namespaceOf = ({ names }: LocalSandbox): string => names.networkNamespace;

beforeAll(async () => {
  stateDirectory = await mkdtemp(join(tmpdir(), "virtkit-state-"));
  await createLab();
  before = await hostNetwork();
  victim = await createPod({ stateDirectory, podUid: uid(1) });
  isolated = await createPod({ stateDirectory, podUid: uid(2) });
  open = await createPod({ stateDirectory, podUid: uid(3), network: "open" });
  openToo = await createPod({ stateDirectory, podUid: uid(4), network: "open" });
  await runTool("ip", ["netns", "attach", "virtkit-test-host", `${process.pid}`]);
  const places = [victim, isolated, open, openToo].map(namespaceOf);
  for (const place of [...places, lab.namespace, "virtkit-test-host"]) {
    servers.push(await serveIn(place, port));
  }
});

afterAll(async () => {
  for (const server of servers) server.kill("SIGKILL");
  for (const digit of [1, 2, 3, 4]) await removeLocalSandbox(stateDirectory, uid(digit));
  await tryTool("ip", ["netns", "delete", "virtkit-test-host"]);
  await removeLab();
  await rm(stateDirectory, { recursive: true, force: true });
});

test("a guest reaches the outside world, behind the host's address, and replies come back", async () => {
  for (const pod of [isolated, open]) {
    expect(await askFrom(namespaceOf(pod), lab.outside, port)).toBe(
      `reached from ::ffff:${lab.host}`,
    );
    const protocol = "udp";
    expect(await askFrom(namespaceOf(pod), lab.outside, port, { protocol })).toEqual(reached);
  }
});

test.each<[string, (pod: LocalSandbox) => string]>([
  ["the gateway, the host's end of the Pod's link", ({ network }) => network.hostAddress],
  ["the host's end of another Pod's link", () => victim.network.hostAddress],
  ["the host's address towards the outside", () => lab.host],
  ["an address of the host on another link", () => lab.other],
])("an isolated guest does not reach %s; an open one does", async (_, address) => {
  const from = async (pod: LocalSandbox): Promise<readonly string[]> =>
    await Promise.all(
      (["tcp", "udp"] as const).map((protocol) =>
        askFrom(namespaceOf(pod), address(pod), port, { protocol }),
      ),
    );
  expect(await from(isolated)).toEqual([notReached, notReached]);
  expect(await from(open)).toEqual([reached, reached]);
});

test("an isolated guest does not reach a cloud's metadata, except for names; an open one does", async () => {
  const ask = async (pod: LocalSandbox): Promise<string> =>
    await askFrom(namespaceOf(pod), lab.metadata, port);
  expect(await ask(isolated)).toEqual(notReached);
  expect(await ask(open)).toEqual(reached);
  servers.push(await serveIn(lab.namespace, 53));
  expect(await askFrom(namespaceOf(isolated), lab.metadata, 53)).toEqual(reached);
});

test("also blocks a port that another program forwards from an address of the host", async () => {
  // As container engines publish, and as local mode did: this bypasses the input hook.
  const input = `table ip virtkit_test {
  chain arriving {
    type nat hook prerouting priority -100;
    fib daddr type local tcp dport 28516 dnat to ${lab.outside}:${port}
  }
}
`;
  await runTool("nft", ["-f", "-"], { input });
  try {
    for (const address of [lab.host, lab.other]) {
      expect(await askFrom(namespaceOf(isolated), address, 28_516)).toEqual(notReached);
      expect(await askFrom(namespaceOf(open), address, 28_516)).toEqual(reached);
    }
  } finally {
    await runTool("nft", ["delete", "table", "ip", "virtkit_test"]);
  }
});

test("guests do not reach each other unless both are open", async () => {
  const pairs = [
    [isolated, victim],
    [isolated, open],
    [open, isolated],
  ] as const;
  const answers = pairs.map(([from, to]) =>
    askFrom(namespaceOf(from), to.network.podAddress, port),
  );
  expect(await Promise.all(answers)).toEqual([notReached, notReached, notReached]);
  expect(await askFrom(namespaceOf(open), openToo.network.podAddress, port)).toEqual(reached);
});

test("a neighbour of the host that knows the route reaches an open guest, but not an isolated one", async () => {
  const ask = async ({ network }: LocalSandbox): Promise<string> =>
    await askFrom(lab.namespace, network.podAddress, port);
  expect(await ask(victim)).toEqual(notReached);
  expect(await ask(open)).toEqual(reached);
});

/** An address of IPv6 can be used once nobody else has claimed it. */
const untilUsable = "while ip -6 -o addr show tentative | grep -q .; do sleep 0.1; done";

/** The Pod plays a neighbour that needs no discovery: what it sends arrives at the host's link. */
async function speakIpv6To(pod: LocalSandbox, address: string): Promise<string> {
  const mac = readFileSync(`/sys/class/net/${pod.names.hostLink}/address`, "utf8").trim();
  const namespace = namespaceOf(pod);
  await runTool("sh", ["-c", untilUsable]);
  await shellIn(
    namespace,
    `${untilUsable}; ip -6 route replace ${address} dev eth0; ip -6 neigh replace ${address} lladdr ${mac} dev eth0`,
  );
  return await askFrom(namespace, address, port);
}

test("an isolated guest does not reach the host by IPv6, by the link's settings or by the rules alone; an open one does", async () => {
  const { hostLink, nftTable } = isolated.names;
  expect(await speakIpv6To(open, lab.host6)).toEqual(reached);
  expect(await speakIpv6To(isolated, lab.host6)).toEqual(notReached);
  const setting = `net.ipv6.conf.${hostLink}.disable_ipv6`;
  await runTool("sysctl", ["-w", `${setting}=0`]);
  expect(await speakIpv6To(isolated, lab.host6)).toEqual(notReached);
  // The control: without the rule the same attacker gets through.
  await runTool("nft", ["flush", "chain", "inet", nftTable, "contain"]);
  expect(await speakIpv6To(isolated, lab.host6)).toEqual(reached);
  await runTool("sysctl", ["-w", `${setting}=1`]);
  expect(await speakIpv6To(isolated, lab.host6)).toEqual(notReached);
});

test("no guest reaches the host's loopback, nor would one if all rules were flushed", async () => {
  const ask = async (pod: LocalSandbox): Promise<string> => {
    const namespace = namespaceOf(pod);
    // Else the Pod would keep it, or not let it out.
    await shellIn(namespace, "ip addr flush dev lo");
    await shellIn(namespace, `ip route replace 127.0.0.2/32 via ${pod.network.hostAddress}`);
    await shellIn(namespace, "echo 1 > /proc/sys/net/ipv4/conf/eth0/route_localnet");
    const from = pod.network.podAddress;
    return await askFrom(namespace, "127.0.0.2", port, { protocol: "udp", from });
  };
  for (const pod of [isolated, open]) {
    expect(await ask(pod)).toEqual(notReached);
    await runTool("nft", ["flush", "table", "inet", pod.names.nftTable]);
    expect(await ask(pod)).toEqual(notReached);
  }
  // The control: with the setting that publishing by NAT needs, the same attacker gets through.
  await runTool("sysctl", ["-w", `net.ipv4.conf.${open.names.hostLink}.route_localnet=1`]);
  expect(await ask(open)).toEqual(reached);
});

test("a guest cannot send with another's address; without the rule it could", async () => {
  const namespace = namespaceOf(victim);
  const from = "10.99.0.9";
  await shellIn(namespace, `ip addr add ${from}/32 dev eth0`);
  await runTool("ip", ["route", "add", from, "dev", victim.names.hostLink]);
  await shellIn(lab.namespace, `ip route add ${from} via ${lab.host}`);
  const heard = async (): Promise<number> => {
    const count = async (): Promise<number> =>
      Number(await shellIn(lab.namespace, "grep -m1 '^Udp: [0-9]' /proc/net/snmp | cut -d' ' -f2"));
    const start = await count();
    await askFrom(namespace, lab.outside, port, { protocol: "udp", from });
    return (await count()) - start;
  };
  expect(await heard()).toBe(0);
  await runTool("nft", ["flush", "chain", "inet", victim.names.nftTable, "guard"]);
  expect(await heard()).toBe(1);
});

test("a Pod does not get an address that another link of the host has taken meanwhile", async () => {
  const names = localNames(stateDirectory, uid(5));
  const network = { hostAddress: "10.87.255.1", podAddress: "10.87.255.2" };
  const twin = async (line: string): Promise<unknown> => await runTool("ip", line.split(" "));
  await twin("link add vktwin type bridge");
  try {
    await twin(`addr add ${network.hostAddress}/30 dev vktwin`);
    await expect(createLocalNetwork(names, network, "isolated")).rejects.toMatchObject({
      code: "AGENT_SANDBOX",
      message: expect.stringContaining("vktwin"),
    });
  } finally {
    await removeLocalNetwork(names);
    await twin("link delete vktwin");
  }
});

test("afterwards the host's network is as before", async () => {
  for (const digit of [1, 2, 3, 4]) await removeLocalSandbox(stateDirectory, uid(digit));
  expect(await hostNetwork()).toEqual(before);
});
