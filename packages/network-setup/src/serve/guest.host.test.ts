import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import { afterAll, expect, test } from "vitest";
import { discover } from "../apply/discover.ts";
import { openJournal } from "../apply/journal.ts";
import { unwirePod, wirePod } from "../apply/wire-pod.ts";
import { parseResolvConf } from "../dhcp/resolv-conf.ts";
import { type CniPod, createCniPod } from "../testing/cni-pod.ts";
import { comparableState } from "../testing/comparable-state.ts";
import { eventually, type Guest, startGuest } from "../testing/guest.ts";
import { type Launcher, startLauncher } from "../testing/launcher.ts";
import { sampleVmi } from "../testing/sample-pod.ts";
import { openGuestSockets } from "./guest-sockets.ts";

afterAll(stopNamespaceHelper);

const node = { ipv4: "10.244.7.1", ipv6: "fd00:10:244:7::1" };

/** A guest in a wired Pod, with its servers in an unprivileged process. */
async function runGuest(
  pod: CniPod,
  binding: object,
): Promise<AsyncDisposable & { guest: Guest; launcher: Launcher }> {
  const journal = openJournal(`${pod.directory}/journal`, "guest");
  const vmi = sampleVmi([{ name: "default", ...binding }]);
  const [plan] = await wirePod(vmi, pod.network, { journal, primaryFamily: "ipv4" });
  const { domain, dhcp } = plan?.bindings[0] ?? {};
  if (!domain || !dhcp) throw new Error("the plan has no guest");
  const sockets = await openGuestSockets(pod.network, dhcp);
  const launcher = await startLauncher(sockets, dhcp, {
    mac: domain.mac,
    hostname: "vm",
    resolvConf: parseResolvConf("nameserver 10.96.0.10\nnameserver fd00:96::10\n"),
  });
  const guest = await startGuest(pod, domain);
  return {
    guest,
    launcher,
    async [Symbol.asyncDispose]() {
      await guest[Symbol.asyncDispose]();
      await launcher[Symbol.asyncDispose]();
      await unwirePod(pod.network, { journal });
    },
  };
}

/** What a connection from the node reads. */
function readFrom(pod: CniPod, address: string): string {
  const script = `require("net").connect(7777, ${JSON.stringify(address)}).on("data", d => { console.log(String(d)); process.exit(0) }).on("error", e => { console.error(e.message); process.exit(1) }); setTimeout(() => process.exit(2), 30000)`;
  return pod.inNode(`${process.execPath} -e '${script}'`);
}

const serve = "nc -ll -p 7777 -e echo hello from the guest >/dev/null 2>&1 &";

test("behind masquerade, a guest has both families, reaches out, and is reached", async () => {
  await using pod = await createCniPod();
  const before = comparableState(await discover(pod.network));
  {
    await using running = await runGuest(pod, { masquerade: {} });
    const { guest, launcher } = running;
    expect(launcher.uid).toBe(107);
    await eventually(async () =>
      expect(await guest.run("ip -4 addr show eth0; ip route")).toMatch(
        /10\.0\.2\.2\/24[\s\S]*default via 10\.0\.2\.1/,
      ),
    );
    // The route comes from the router's advertisement, the address from DHCPv6.
    await eventually(async () =>
      expect(await guest.run("ip -6 route")).toMatch(/default via fe80::\S+ dev eth0/),
    );
    await guest.run(
      "mkdir -p /var/lib/dhcpv6; LD_LIBRARY_PATH=/mnt/vda /mnt/vda/dhcp6c -c /mnt/vda/dhcp6c.conf eth0",
    );
    await eventually(async () =>
      expect(await guest.run("ip -6 addr show eth0")).toContain("fd10:0:2::2/"),
    );
    await eventually(() => guest.run(`ping -c1 -W2 ${node.ipv4}`));
    await eventually(() => guest.run(`ping -6 -c1 -W2 ${node.ipv6}`));
    await guest.run(serve);
    for (const ip of pod.podIps) {
      expect(await eventually(() => readFrom(pod, ip))).toContain("hello from the guest");
    }
    for (const family of ["ip", "ip6"]) {
      const rules = pod.inPod(`nft list table ${family} nat`);
      expect(rules).toMatch(/masquerade/);
      expect(rules.match(/counter packets [1-9]\d* bytes \d+ dnat to/)).not.toBeNull();
      expect(rules.match(/counter packets [1-9]\d* bytes \d+ masquerade/)).not.toBeNull();
    }
    const counters = await launcher.counters();
    expect(counters["dhcp4"]?.answered).toBeGreaterThanOrEqual(2);
    expect(counters["dhcp6"]?.answered).toBeGreaterThanOrEqual(1);
    expect(counters["router"]?.answered).toBeGreaterThanOrEqual(1);
  }
  expect(comparableState(await discover(pod.network))).toEqual(before);
});

test("a bridged guest has the Pod's address and is reached by both families", async () => {
  await using pod = await createCniPod();
  const before = comparableState(await discover(pod.network));
  const [ipv4 = "", ipv6 = ""] = pod.podIps;
  {
    await using running = await runGuest(pod, { bridge: {} });
    const { guest } = running;
    await eventually(async () =>
      expect(await guest.run("ip -4 addr show eth0; ip route")).toMatch(
        /10\.244\.7\.2\/24[\s\S]*default via 10\.244\.7\.1/,
      ),
    );
    await eventually(() => guest.run(`ping -c1 -W2 ${node.ipv4}`));
    // Nobody hands out IPv6 on a bridge, but the wire carries it.
    await guest.run(`ip -6 addr add ${ipv6}/64 dev eth0`);
    await eventually(() => guest.run(`ping -6 -c1 -W2 ${node.ipv6}`));
    await guest.run(serve);
    for (const ip of [ipv4, ipv6]) {
      expect(await eventually(() => readFrom(pod, ip))).toContain("hello from the guest");
    }
  }
  expect(comparableState(await discover(pod.network))).toEqual(before);
});
