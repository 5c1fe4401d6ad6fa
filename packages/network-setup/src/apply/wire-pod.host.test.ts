import { spawnSync } from "node:child_process";
import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import { afterAll, expect, test } from "vitest";
import { type CniPod, createCniPod } from "../testing/cni-pod.ts";
import { comparableState } from "../testing/comparable-state.ts";
import { sampleVmi } from "../testing/sample-pod.ts";
import { discover } from "./discover.ts";
import { type Journal, openJournal } from "./journal.ts";
import { unwirePod, wirePod } from "./wire-pod.ts";

afterAll(stopNamespaceHelper);

const primaryFamily = "ipv4";
const vmis = {
  bridge: sampleVmi([{ name: "default", bridge: {} }]),
  masquerade: sampleVmi([{ name: "default", masquerade: {} }]),
} as const;

function journalOf(pod: CniPod): Journal {
  return openJournal(`${pod.directory}/journal`, "6a1a24a1-4061-4607-8bf4-a3963d0c5895");
}

async function state(pod: CniPod): Promise<unknown> {
  return comparableState(await discover(pod.network));
}

test("discovers what the CNI created", async () => {
  await using pod = await createCniPod();
  const { nics, settings } = await discover(pod.network);
  const eth0 = nics.find(({ name }) => name === "eth0");
  expect(eth0).toMatchObject({ type: "veth", mtu: 1450, state: "up" });
  expect(eth0?.addresses.map(({ cidr }) => cidr)).toEqual(
    expect.arrayContaining(["10.244.7.2/24", "fd00:10:244:7::2/64"]),
  );
  expect(eth0?.routes).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ family: "ipv4", gw: "10.244.7.1" }),
      expect.objectContaining({ family: "ipv6", gw: "fd00:10:244:7::1" }),
    ]),
  );
  expect(settings["net/ipv4/ip_forward"]).toBe("0");
  expect(pod.inPod("ip -o link show eth0")).toContain(eth0?.mac);
});

test.each(["bridge", "masquerade"] as const)(
  "wires %s, and unwires it without a trace",
  async (kind) => {
    await using pod = await createCniPod();
    const journal = journalOf(pod);
    const before = await state(pod);
    const [plan] = await wirePod(vmis[kind], pod.network, { journal, primaryFamily });
    const links = pod.inPod("ip -o link show");
    expect(links).toMatch(/k6t-eth0: .*state UP|k6t-eth0: .*UP/);
    expect(links).toMatch(/tap0: .*master k6t-eth0/);
    expect(plan?.bindings[0]?.podIps).toEqual(kind === "bridge" ? ["10.244.7.2"] : pod.podIps);
    if (kind === "bridge") {
      expect(links).toMatch(/eth0-nic@\S+: .*master k6t-eth0/);
      expect(pod.inPod("bridge -d link show dev eth0-nic")).toContain("learning off");
      expect(pod.inPod("ip -o addr show dev eth0")).toContain("10.244.7.2/24");
    } else {
      expect(pod.inPod("nft list table ip nat")).toContain("dnat to 10.0.2.2");
      expect(pod.inPod("nft list table ip6 nat")).toContain("dnat to fd10:0:2::2");
    }
    // A second run changes nothing.
    const changed: string[] = [];
    await wirePod(vmis[kind], pod.network, {
      journal,
      primaryFamily,
      onOperation: (operation, change) => change && changed.push(operation.kind),
    });
    expect(changed).toEqual([]);
    await unwirePod(pod.network, { journal });
    expect(await state(pod)).toEqual(before);
    expect(pod.inPod("nft list tables")).toBe("");
    expect(journal.read()).toEqual([]);
    expect(pod.inPod("ping -c1 -W2 10.244.7.1")).toContain("1 received");
  },
);

class Crash extends Error {}

/** Stops before (even) or after (odd) the n-th operation, as a killed process would. */
function crashAt(n: number): () => void {
  let calls = 0;
  return () => {
    if (calls++ === n) throw new Crash();
  };
}

test.each(["bridge", "masquerade"] as const)(
  "after a crash at any step of %s, the next run finishes or undoes it",
  async (kind) => {
    await using pod = await createCniPod();
    const journal = journalOf(pod);
    const before = await state(pod);
    const options = { journal, primaryFamily } as const;
    const [plan] = await wirePod(vmis[kind], pod.network, options);
    const wired = await state(pod);
    await unwirePod(pod.network, options);
    const crash = async (step: number): Promise<void> => {
      const onOperation = crashAt(step);
      const wiring = wirePod(vmis[kind], pod.network, { ...options, onOperation });
      await expect(wiring).rejects.toBeInstanceOf(Crash);
    };
    for (let step = 0; step < 2 * (plan?.steps.length ?? 0); step++) {
      await crash(step);
      await wirePod(vmis[kind], pod.network, options);
      expect(withoutMacs(await state(pod)), `finished after ${step}`).toEqual(withoutMacs(wired));
      await unwirePod(pod.network, options);
      await crash(step);
      await unwirePod(pod.network, options);
      expect(await state(pod), `undone after ${step}`).toEqual(before);
    }
  },
);

test.each(["bridge", "masquerade"] as const)(
  "after its process is killed, another one finishes %s",
  async (kind) => {
    await using pod = await createCniPod();
    const before = await state(pod);
    const directory = `${pod.directory}/journal`;
    const journal = openJournal(directory, "killed");
    const script = new URL("../testing/wire-child.mjs", import.meta.url).pathname;
    const [plan] = await wirePod(vmis[kind], pod.network, { journal, primaryFamily });
    const wired = withoutMacs(await state(pod));
    await unwirePod(pod.network, { journal });
    for (let step = 1; step < 2 * (plan?.steps.length ?? 0); step += 8) {
      const child = spawnSync(process.execPath, [script, pod.path, directory, kind, `${step}`]);
      expect(child.signal).toBe("SIGKILL");
      await wirePod(vmis[kind], pod.network, { journal, primaryFamily });
      expect(withoutMacs(await state(pod)), `finished after ${step}`).toEqual(wired);
      await unwirePod(pod.network, { journal });
      expect(await state(pod), `undone after ${step}`).toEqual(before);
    }
  },
);

test("after a crash at any step of an undo, the next one finishes it", async () => {
  await using pod = await createCniPod();
  const journal = journalOf(pod);
  const before = await state(pod);
  const options = { journal, primaryFamily } as const;
  const [plan] = await wirePod(vmis.bridge, pod.network, options);
  const undos = plan?.steps.flatMap(({ undo }) => undo).length ?? 0;
  for (let step = 0; step < 2 * undos; step += 3) {
    await wirePod(vmis.bridge, pod.network, options);
    await unwirePod(pod.network, { journal, onOperation: crashAt(step) }).catch(() => {});
    await unwirePod(pod.network, options);
    expect(await state(pod), `after ${step}`).toEqual(before);
  }
});

test("notices a crash after which nobody looked: the journal exists before the first change", async () => {
  await using pod = await createCniPod();
  const journal = journalOf(pod);
  const before = await state(pod);
  await expect(
    wirePod(vmis.bridge, pod.network, { journal, primaryFamily, onOperation: crashAt(0) }),
  ).rejects.toBeInstanceOf(Crash);
  expect(journal.read()).toMatchObject([{ state: "applying", found: { nics: [{}, {}] } }]);
  expect(await state(pod)).toEqual(before);
});

/** MACs that the kernel generates, and the addresses derived from them, are new each time. */
function withoutMacs(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, item) => {
    if (key === "mac") return "";
    if (key === "addresses")
      return item.filter(({ cidr }: { cidr: string }) => !/^fe80/.test(cidr));
    return item;
  });
}

test("never touches a table of others, and refuses one with our chains", async () => {
  await using pod = await createCniPod({ families: ["ipv4"] });
  const journal = journalOf(pod);
  pod.inPod(
    "nft 'add table ip nat; add chain ip nat PREROUTING; add table inet other; add chain inet other x'",
  );
  const before = pod.inPod("nft list ruleset");
  await wirePod(vmis.masquerade, pod.network, { journal });
  await unwirePod(pod.network, { journal });
  expect(pod.inPod("nft list ruleset")).toBe(before);
  pod.inPod("nft 'add chain ip nat prerouting'");
  await expect(wirePod(vmis.masquerade, pod.network, { journal })).rejects.toMatchObject({
    code: "NETWORK_NAT_REFUSED",
  });
  await unwirePod(pod.network, { journal });
  expect(pod.inPod("nft list ruleset")).toContain("chain prerouting");
});

test("plugs and unplugs a second network while the first stays", async () => {
  await using pod = await createCniPod({ families: ["ipv4"] });
  const journal = journalOf(pod);
  await wirePod(vmis.masquerade, pod.network, { journal });
  const vmi = sampleVmi([
    { name: "default", masquerade: {} },
    { name: "red", bridge: {} },
  ]);
  const red = "podb1f51a511f1";
  pod.attach(red);
  const status = (infoSource: string): object => ({
    ...vmi.status,
    interfaces: [
      { name: "default", infoSource: "domain, multus-status", podInterfaceName: "eth0" },
      { name: "red", infoSource, podInterfaceName: red },
    ],
  });
  const plugged = { ...vmi, status: status("multus-status") };
  await wirePod(plugged, pod.network, { journal, flow: "liveUpdate" });
  expect(pod.inPod("ip -o link show")).toMatch(/tapb1f51a511f1: .*master k6t-b1f51a511f1/);
  const gone = sampleVmi([
    { name: "default", masquerade: {} },
    { name: "red", bridge: {}, state: "absent" },
  ]);
  await wirePod({ ...gone, status: status("multus-status") }, pod.network, {
    journal,
    flow: "liveUpdate",
  });
  const links = pod.inPod("ip -o link show");
  expect(links).not.toContain("tapb1f51a511f1");
  expect(links).toContain("tap0");
});

test("names a link that vanishes halfway", async () => {
  await using pod = await createCniPod();
  const journal = journalOf(pod);
  const onOperation = (operation: { readonly kind: string }): void => {
    if (operation.kind === "rename") pod.inPod("ip link del eth0 2>/dev/null; true");
  };
  await expect(
    wirePod(vmis.bridge, pod.network, { journal, primaryFamily, onOperation }),
  ).rejects.toMatchObject({ code: "NETWORK_LINK_MISSING", path: "eth0" });
  await unwirePod(pod.network, { journal });
  expect(pod.inPod("ip -o link show")).not.toContain("k6t-eth0");
});

test("masquerade works with IPv6 switched off and without a default route", async () => {
  await using pod = await createCniPod({ families: ["ipv4"] });
  pod.inPod("echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; ip route del default");
  const journal = journalOf(pod);
  const before = await state(pod);
  await wirePod(vmis.masquerade, pod.network, { journal });
  await unwirePod(pod.network, { journal });
  expect(await state(pod)).toEqual(before);
});

test("wires two Pods at once without interference", async () => {
  await using one = await createCniPod({ mtu: 1000, families: ["ipv4"] });
  await using two = await createCniPod({ families: ["ipv4"] });
  await Promise.all([
    wirePod(vmis.masquerade, one.network, { journal: journalOf(one) }),
    wirePod(vmis.bridge, two.network, { journal: journalOf(two) }),
  ]);
  expect(one.inPod("ip -o link show tap0")).toContain("mtu 1000");
  expect(two.inPod("ip -o link show tap0")).toContain("mtu 1450");
});
