import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import type { DomainNic } from "@virtkit/network-setup/plan";
import { afterAll, expect, test } from "vitest";
import { patiently, TwoNodes } from "./testing/two-nodes.ts";
import { clientAddress, mac, WiredPods } from "./testing/wired-pods.ts";

afterAll(stopNamespaceHelper);

/** The guest's interface, on a TAP that has the same name in both Pods. */
const nicXml = ({ target, mtu }: DomainNic): string =>
  `<interface type='ethernet'><mac address='${mac}'/><target dev='${target}' managed='no'/><model type='virtio'/><mtu size='${mtu}'/></interface>`;

/** What a guest knows of its network. */
const facts = "cat /sys/class/net/eth0/address; ip -4 -o addr show eth0; ip route";

/** Counts what comes from the target's Pod as reverse ARP. */
const countReverseArp = `table bridge announced {
  chain c { type filter hook prerouting priority 0; iifname "pb" ether type 0x8035 counter; }
}`;

/** Answers each line with itself. */
const echo = "setsid nc -ll -p 7777 -e cat >/dev/null 2>&1 &";

async function expectMoved(lab: TwoNodes): Promise<void> {
  const move = await lab.move();
  const { source, target } = await move.run();
  expect(await source.outcome()).toMatchObject({ outcome: "moved", settled: { source: "ended" } });
  expect(await target.outcome()).toEqual({ target: "runs" });
  await lab.counting();
  expect(lab.faults()).toEqual([]);
}

async function hasAddress(lab: TwoNodes, address: string): Promise<void> {
  await patiently("the guest has its address", async () =>
    (await lab.askGuest(lab.nodes[0], facts)).includes(address),
  );
}

test("bridge: a connection that is open during the move stays open, and the switch learns the guest's new port at once", async () => {
  await using pods = await WiredPods.start();
  pods.plugIn("a", "10.244.7.2");
  const nic = await pods.wire("a", { bridge: {} });
  await using lab = await TwoNodes.start((node) => pods.path(node));
  await lab.boot({ devices: nicXml(nic) });
  await hasAddress(lab, "10.244.7.2/24");
  const before = await lab.askGuest(lab.nodes[0], facts);
  await lab.inGuest(lab.nodes[0], echo);
  const open = pods.openConnection("10.244.7.2", 7777);
  await patiently("the connection is used", async () => open.answers > 20);
  expect(pods.on("lan", "bridge fdb show dev pa")).toContain(mac);

  // On such a network the Pod's address goes with the guest.
  pods.plugIn("b", "10.244.7.2");
  await pods.wire("b", { bridge: {} });
  // What QEMU says on behalf of the guest: reverse ARP, which the guest itself never sends.
  pods.on("lan", `nft '${countReverseArp}'`);
  const answered = open.answers;
  await expectMoved(lab);
  await patiently("the connection goes on", async () => {
    if (open.answers > answered + 50) return true;
    const seen = pods.on("lan", "ip neigh; bridge fdb show | grep -i 4d:49:47");
    throw new Error(`${open.answers - answered} answers, open: ${open.isOpen}; ${seen}`);
  });
  expect(open.isOpen).toBe(true);
  expect(await lab.askGuest(lab.nodes[1], facts)).toBe(before);
  expect(pods.on("lan", "bridge fdb show dev pb")).toContain(mac);
  expect(pods.on("lan", "nft list table bridge announced")).toMatch(/counter packets [1-9]/);
});

test("bridge, where each Pod has its own address: the guest keeps the one it had, and takes the new Pod's when it asks", async () => {
  await using pods = await WiredPods.start();
  pods.plugIn("a", "10.244.7.2");
  const nic = await pods.wire("a", { bridge: {} });
  await using lab = await TwoNodes.start((node) => pods.path(node));
  await lab.boot({ devices: nicXml(nic) });
  await hasAddress(lab, "10.244.7.2/24");
  const [source, target] = lab.nodes;
  const before = await lab.askGuest(source, facts);

  pods.plugIn("b", "10.244.7.3");
  await pods.wire("b", { bridge: {} });
  await expectMoved(lab);
  // Nobody tells a guest that it has moved, and its lease is too long to matter: this is KubeVirt's bridge, too.
  expect(await lab.askGuest(target, facts)).toBe(before);
  const asked = await lab.askGuest(target, "udhcpc -n -q -f -i eth0 -s /bin/true");
  expect(asked).toMatch(/lease of 10\.244\.7\.3 obtained/);
});

test("masquerade: the guest keeps its lease, MAC and gateway, and is reached at the target's address", async () => {
  await using pods = await WiredPods.start();
  pods.plugIn("a", "10.244.7.2");
  const nic = await pods.wire("a", { masquerade: {} });
  await using lab = await TwoNodes.start((node) => pods.path(node));
  await lab.boot({ devices: nicXml(nic) });
  await hasAddress(lab, "10.0.2.2/24");
  const [source, target] = lab.nodes;
  const ask = `ping -c1 -W5 ${clientAddress} >/dev/null && ${facts}; ip neigh show 10.0.2.1 | cut -d" " -f1-5`;
  const before = await lab.askGuest(source, ask);
  expect(before).toMatch(/default via 10\.0\.2\.1[\s\S]*lladdr/);
  const page = pods.on("lan", fetching("10.244.7.2"));
  expect(page).toContain("boot_id=");
  await lab.inGuest(source, echo);
  const open = pods.openConnection("10.244.7.2", 7777);
  await patiently("the connection is used", async () => open.answers > 20);

  pods.plugIn("b", "10.244.7.3");
  expect(await pods.wire("b", { masquerade: {} })).toEqual(nic);
  await expectMoved(lab);
  expect(await lab.askGuest(target, ask)).toBe(before);
  await patiently(
    "the guest is reached",
    async () => pods.on("lan", fetching("10.244.7.3")) === page,
  );
  // The target's DHCP server knows the guest, and gives it what it has.
  const renewed = "udhcpc -n -q -f -i eth0 -s /bin/true";
  expect(await lab.askGuest(target, renewed)).toMatch(/lease of 10\.0\.2\.2 obtained/);
});

function fetching(address: string): string {
  const script = `fetch("http://${address}/", { signal: AbortSignal.timeout(5000) }).then(async (r) => process.stdout.write(await r.text()), () => process.exit(1))`;
  return `${process.execPath} -e '${script}'`;
}
