import { expect, test } from "vitest";
import { podNic, sampleVmi } from "../testing/sample-pod.ts";
import { type Operation, operationText, type Step } from "./operation.ts";
import { planBinding } from "./plan-binding.ts";
import { linkModel } from "./predict-links.ts";

const dual = podNic({
  addresses: [{ cidr: "10.244.1.5/24" }, { cidr: "fd00:1::5/64" }, { cidr: "fe80::1/64" }],
});

function text(steps: readonly Step[]): string[] {
  return steps.flatMap(({ operation }) => operationText(operation));
}

/** Everything that undoes a plan, in order. */
function undo(steps: readonly Step[]): Operation[] {
  return steps.toReversed().flatMap((step) => [...step.undo]);
}

test("masquerade leaves the Pod's interface alone and translates addresses", () => {
  const plan = planBinding(sampleVmi([{ name: "default", masquerade: {} }]), [podNic()]);
  const lines = text(plan.steps);
  expect(lines).toContain("addr-add 10.0.2.1/24 dev k6t-eth0");
  expect(lines).toContain("add rule ip nat KUBEVIRT_PREINBOUND counter dnat to 10.0.2.2");
  expect(lines.filter((line) => / eth0( |$)/.test(line))).toEqual([
    "add rule ip nat prerouting iifname eth0 counter jump KUBEVIRT_PREINBOUND",
  ]);
  expect(plan.bindings[0]).toMatchObject({
    kind: "masquerade",
    podIps: ["10.244.1.5"],
    domain: { mac: "0a:58:0a:f4:01:05", mtu: 1450, target: "tap0" },
    dhcp: { link: "k6t-eth0", config: { ip: "10.0.2.2/24", gateway: "10.0.2.1", mac: "" } },
  });
});

test("masquerades a family if the Pod has a global address of it", () => {
  const vmi = sampleVmi([{ name: "default", masquerade: {} }]);
  const both = text(planBinding(vmi, [dual], { primaryFamily: "ipv6" }).steps);
  expect(both).toContain("addr-add fd10:0:2::1/120 dev k6t-eth0");
  expect(both).toContain("sysctl net.ipv6.conf.all.forwarding=1");
  const none = podNic({ addresses: [{ cidr: "fe80::1/64" }, { cidr: "169.254.0.2/16" }] });
  expect(text(planBinding(vmi, [none]).steps).filter((line) => / nat |addr-/.test(line))).toEqual(
    [],
  );
});

test("puts the cluster's first family first, and must know it", () => {
  const vmi = sampleVmi([{ name: "default", masquerade: {} }]);
  const ips = (primaryFamily: "ipv4" | "ipv6"): unknown =>
    planBinding(vmi, [dual], { primaryFamily }).bindings[0]?.podIps;
  expect(ips("ipv4")).toEqual(["10.244.1.5", "fd00:1::5"]);
  expect(ips("ipv6")).toEqual(["fd00:1::5", "10.244.1.5"]);
  expect(() => planBinding(vmi, [dual])).toThrow(/primaryFamily/);
});

test("bridge gives the Pod's address to the guest and leaves a placeholder", () => {
  const plan = planBinding(sampleVmi([{ name: "default", bridge: {} }]), [podNic()]);
  expect(text(plan.steps)).toEqual([
    "link-add k6t-eth0 type bridge",
    "addr-add 169.254.75.10/32 dev k6t-eth0",
    "link-set k6t-eth0 up",
    "link-set eth0 down",
    "link-set eth0 name eth0-nic",
    "link-set eth0-nic address of k6t-eth0",
    "link-set eth0-nic master k6t-eth0",
    "addr-del 10.244.1.5/24 dev eth0-nic",
    "addr-del fe80::1/64 dev eth0-nic",
    "link-set eth0-nic up",
    "link-set eth0-nic learning off",
    "link-set eth0-nic up",
    "tap-add tap0 mtu 1450 queues 0 owner 107 selinux-from-pid 0",
    "link-set tap0 master k6t-eth0",
    "link-set tap0 up",
    "link-add eth0 type dummy",
    "link-set eth0 address 0a:58:0a:f4:01:05",
    "link-set eth0 mtu 1450",
    "addr-add 10.244.1.5/24 dev eth0",
    "addr-add fe80::1/64 dev eth0",
    "sysctl net.ipv4.conf.all.arp_ignore=1",
  ]);
  expect(plan.bindings[0]?.dhcp?.config).toMatchObject({
    ip: "10.244.1.5/24",
    mac: "0a:58:0a:f4:01:05",
    gateway: "10.244.1.1",
    serverIp: "169.254.75.10",
    routes: [{ gw: "10.244.1.1" }],
  });
});

test("the undo of a plan restores every link", () => {
  for (const binding of [{ bridge: {} }, { masquerade: {} }]) {
    const nics = [podNic({ index: 7 })];
    const { steps } = planBinding(sampleVmi([{ name: "default", ...binding }]), nics);
    const model = linkModel(nics);
    for (const { operation } of steps) model.apply(operation);
    expect(model.links.length).toBeGreaterThan(2);
    for (const operation of undo(steps)) model.apply(operation);
    expect(model.links).toEqual(linkModel(nics).links);
  }
});

test("the undo restores routes last, once addresses and state are back", () => {
  const { steps } = planBinding(sampleVmi([{ name: "default", bridge: {} }]), [podNic()], {
    settings: { "net/ipv4/conf/all/arp_ignore": "0" },
  });
  const kinds = undo(steps).map(({ kind }) => kind);
  expect(kinds[0]).toBe("setSysctl");
  expect(kinds.indexOf("restoreRoutes")).toBeGreaterThan(kinds.lastIndexOf("addAddress"));
  expect(kinds.indexOf("restoreRoutes")).toBeGreaterThan(kinds.lastIndexOf("setUp"));
});

test("does not wire SR-IOV, passt and plugins", () => {
  const vmi = sampleVmi([
    { name: "a", passtBinding: {} },
    { name: "b", sriov: {} },
    { name: "c", binding: { name: "plug" } },
  ]);
  const plan = planBinding(vmi, [podNic()], { plugins: { plug: {} } });
  expect(text(plan.steps)).toEqual([
    "sysctl net.ipv4.ping_group_range=107 107",
    "sysctl net.ipv4.ip_unprivileged_port_start=0",
  ]);
  expect(plan.bindings.map(({ domain }) => domain)).toEqual([undefined, undefined, undefined]);
});

test("wires a managed TAP like a bridge without DHCP; a tap plugin brings its own device", () => {
  const vmi = sampleVmi([{ name: "a", binding: { name: "plug" } }]);
  const managed = planBinding(vmi, [podNic()], {
    plugins: { plug: { domainAttachmentType: "managedTap" } },
  });
  expect(text(managed.steps)).not.toContain("addr-add 169.254.75.10/32 dev k6t-eth0");
  expect(managed.bindings[0]).toMatchObject({ kind: "managedTap", domain: { target: "tap0" } });
  expect(managed.bindings[0]?.dhcp).toBeUndefined();
  const own = planBinding(vmi, [podNic()], { plugins: { plug: { domainAttachmentType: "tap" } } });
  expect(own).toMatchObject({ steps: [], bindings: [{ domain: { target: "eth0" } }] });
});

test.each([
  ["no link", [], /no link eth0 .*CNI/],
  ["no route", [podNic({ routes: [] })], /no IPv4 route/],
  [
    "a link in the way",
    [podNic(), podNic({ name: "k6t-eth0", index: 3 })],
    /k6t-eth0 .*is a veth, not a bridge/,
  ],
])("the error of a bridge explains %s", (_, nics, message) => {
  expect(() => planBinding(sampleVmi([{ name: "default", bridge: {} }]), nics)).toThrow(message);
});

test("rejects an interface name that leaves no room for ours", () => {
  const vmi = sampleVmi([{ name: "default", bridge: {} }]);
  const status = { name: "default", podInterfaceName: "ovn-network-123" };
  const named = { ...vmi, status: { ...vmi.status, interfaces: [status] } };
  expect(() => planBinding(named, [podNic({ name: "ovn-network-123" })])).toThrow(
    /at most 11 letters/,
  );
  const twelve = { ...status, podInterfaceName: "a;flush" };
  const evil = { ...vmi, status: { ...vmi.status, interfaces: [twelve] } };
  expect(() => planBinding(evil, [podNic({ name: "a;flush" })])).toThrow(/a;flush/);
});

test("rejects two networks with one name, and a network without an interface", () => {
  const iface = { name: "default", masquerade: {} };
  const twice = sampleVmi(
    [iface],
    [
      { name: "default", pod: {} },
      { name: "default", pod: {} },
    ],
  );
  expect(() => planBinding(twice, [podNic()], { flow: "migrationTarget" })).toThrow(/two networks/);
  const alone = sampleVmi([], [{ name: "default", pod: {} }]);
  expect(() => planBinding(alone, [podNic()], { flow: "migrationTarget" })).toThrow(/no interface/);
});

test("passes on an MTU below IPv6's minimum unchanged", () => {
  const plan = planBinding(sampleVmi([{ name: "default", masquerade: {} }]), [
    podNic({ mtu: 1000 }),
  ]);
  expect(plan.bindings[0]?.domain?.mtu).toBe(1000);
});

test("what is already wired needs no steps", () => {
  const vmi = sampleVmi([{ name: "default", masquerade: {} }]);
  expect(planBinding(vmi, [podNic()], { wired: ["default"] }).steps).toEqual([]);
});

test("ports, ranges and istio decide what reaches the guest", () => {
  const iface = {
    name: "default",
    masquerade: {},
    ports: [{ port: 80 }, { port: 53, protocol: "UDP" }],
    portRanges: [{ start: 20, end: 30, protocol: "TCP" }],
  };
  const vmi = sampleVmi([iface]);
  const inbound = (annotations: Record<string, string>, portRanges: boolean): string[] =>
    text(
      planBinding({ ...vmi, metadata: { ...vmi.metadata, annotations } }, [podNic()], {
        portRanges,
      }).steps,
    ).filter((line) => line.includes(" KUBEVIRT_PREINBOUND ") && line.includes("dport"));
  expect(inbound({}, true)).toEqual([
    "add rule ip nat KUBEVIRT_PREINBOUND tcp dport { 80 } counter dnat to 10.0.2.2",
    "add rule ip nat KUBEVIRT_PREINBOUND udp dport { 53 } counter dnat to 10.0.2.2",
    "add rule ip nat KUBEVIRT_PREINBOUND tcp dport 20-30 counter dnat to 10.0.2.2",
  ]);
  expect(inbound({ "sidecar.istio.io/inject": "True" }, true)).toEqual([
    "add rule ip nat KUBEVIRT_PREINBOUND tcp dport { 22 } counter dnat to 10.0.2.2",
  ]);
  expect(inbound({}, false)).toHaveLength(2);
});

test("a bridge that is plugged in later has its own server address", () => {
  const vmi = sampleVmi([
    { name: "default", bridge: {} },
    { name: "red", bridge: {} },
  ]);
  const red = podNic({ name: "podb1f51a511f1", index: 9 });
  const plan = planBinding(vmi, [podNic(), red], { wired: ["default"] });
  expect(text(plan.steps)).toContain("addr-add 169.254.75.11/32 dev k6t-b1f51a511f1");
  expect(plan.bindings[0]?.dhcp?.config.serverIp).toBe("169.254.75.11");
});

test("recognizes a default route that is written out", () => {
  const nic = podNic({ routes: [{ family: "ipv4", dst: "0.0.0.0/0", gw: "10.244.1.1" }] });
  const plan = planBinding(sampleVmi([{ name: "default", bridge: {} }]), [nic]);
  expect(plan.bindings[0]?.dhcp?.config.routes).toEqual([{ gw: "10.244.1.1" }]);
});
