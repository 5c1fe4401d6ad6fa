import { expect, test } from "vitest";
import { type Change, type ClusterOptions, verdict } from "../testing/verdict.ts";

const net = (
  networks: readonly Change[],
  interfaces: readonly Change[],
  rest: Change = {},
): Change => ({
  networks,
  ...rest,
  domain: { devices: { interfaces } },
});
const pod = (name = "default"): Change => ({ name, pod: {} });
const multus = (name: string, rest: Change = {}): Change => ({
  name,
  multus: { networkName: "n", ...rest },
});
const masquerade = (rest: Change = {}): Change => ({ name: "default", masquerade: {}, ...rest });
const bridge = (name: string, rest: Change = {}): Change => ({ name, bridge: {}, ...rest });
const at = "spec.domain.devices.interfaces";

test.each<[string, Change, string[]]>([
  ["nothing", net([], []), []],
  ["both kinds", net([pod(), multus("b")], [masquerade(), bridge("b")]), []],
  [
    "two Pod networks",
    net([pod("a"), pod("b")], [bridge("a"), bridge("b")]),
    ["Duplicate spec.interfaces"],
  ],
  [
    "two Multus defaults",
    net(
      [multus("a", { default: true }), multus("b", { default: true })],
      [bridge("a"), bridge("b")],
    ),
    ["Invalid spec.networks"],
  ],
  [
    "the Pod network and a Multus default",
    net([pod("a"), multus("b", { default: true })], [bridge("a"), bridge("b")]),
    ["Invalid spec.networks"],
  ],
  ["no type", net([{ name: "a" }], [bridge("a")]), ["Required spec.networks[0]"]],
  [
    "two types",
    net([{ name: "a", pod: {}, multus: { networkName: "n" } }], [bridge("a")]),
    ["Required spec.networks[0]"],
  ],
  [
    "Multus without a name, the first of two",
    net(
      [multus("a", { networkName: "" }), multus("b", { networkName: "" })],
      [bridge("a"), bridge("b")],
    ),
    ["Required spec.networks[0]"],
  ],
  [
    "two networks with the same name",
    net([multus("a"), multus("a")], [bridge("a")]),
    ["Duplicate spec.networks[1].name"],
  ],
  ["a network without an interface", net([pod()], []), ["Required spec.networks[0].name"]],
  [
    "two interfaces with the same name",
    net([pod()], [masquerade(), masquerade()]),
    [`Duplicate ${at}[1].name`],
  ],
  ["an interface without a network", net([], [bridge("a")]), [`Invalid ${at}[0].name`]],
  [
    "slirp",
    net([pod()], [{ name: "default", slirp: {} }]),
    [`Invalid ${at}[0].slirp`, `Invalid ${at}[0]`],
  ],
  [
    "passt and macvtap, both removed",
    net([pod()], [{ name: "default", passt: {}, macvtap: {} }]),
    [`Invalid ${at}[0].passt`, `Invalid ${at}[0].macvtap`, `Invalid ${at}[0]`],
  ],
])("%s: %j %j", (_, change, expected) => {
  expect(verdict(change)).toEqual(expected);
});

test("the gate of a removed feature does not bring it back", () => {
  const change = net([pod()], [masquerade({ passt: {} })]);
  expect(verdict(change, { gates: ["Passt", "Macvtap", "constructor"] })).toEqual([
    "NotSupported",
    `Invalid ${at}[0].passt`,
  ]);
});

test.each<[string, Change, ClusterOptions, string[]]>([
  ["none", net([pod()], [{ name: "default" }]), {}, [`Invalid ${at}[0]`]],
  ["two", net([pod()], [masquerade({ bridge: {} })]), {}, [`Invalid ${at}[0]`]],
  ["a plugin", net([pod()], [{ name: "default", binding: { name: "p" } }]), {}, []],
  [
    "a plugin in addition to masquerade",
    net([pod()], [masquerade({ binding: { name: "p" } })]),
    {},
    [`Invalid ${at}[0]`],
  ],
  [
    "masquerade on another network",
    net([multus("a")], [{ name: "a", masquerade: {} }]),
    {},
    [`Invalid ${at}[0].name`],
  ],
  [
    "masquerade with a reserved MAC address",
    net([pod()], [masquerade({ macAddress: "02:00:00:00:00:00" })]),
    {},
    [`Invalid ${at}[0].macAddress`],
  ],
  ["bridge on the Pod network", net([pod()], [bridge("default")]), {}, []],
  [
    "bridge on the Pod network, if it is not permitted",
    net([pod()], [bridge("default")]),
    { configuration: { network: { permitBridgeInterfaceOnPodNetwork: false } } },
    [`Invalid ${at}[0].name`],
  ],
  ["passt", net([pod()], [{ name: "default", passtBinding: {} }]), {}, []],
  [
    "passt without its gate",
    net([pod()], [{ name: "default", passtBinding: {} }]),
    { disabled: ["PasstBinding"] },
    [`Invalid ${at}[0].name`],
  ],
  [
    "passt on another network",
    net([multus("a")], [{ name: "a", passtBinding: {} }]),
    {},
    [`Invalid ${at}[0].name`],
  ],
])("binding: %s", (_, change, options, expected) => {
  expect(verdict(change, options)).toEqual(expected);
});

test.each<[Change, string[]]>([
  [bridge("b", { state: "up" }), []],
  [bridge("b", { state: "absent" }), []],
  [bridge("b", { state: "sideways" }), [`Invalid ${at}[1].state`]],
  [{ name: "b", sriov: {}, state: "down" }, [`Invalid ${at}[1].state`]],
  [{ name: "b", sriov: {}, state: "absent" }, [`Invalid ${at}[1].state`]],
])("state: %j: %j", (iface, expected) => {
  expect(verdict(net([pod(), multus("b")], [masquerade(), iface]))).toEqual(expected);
});

test("the interface of the default network is never absent", () => {
  expect(verdict(net([pod()], [bridge("default", { state: "absent" })]))).toEqual([
    `Invalid ${at}[0].state`,
  ]);
});

test.each<[Change, string[]]>([
  [{ model: "e1000e", macAddress: "de-ad-00-00-be-af", pciAddress: "0000:81:01.0" }, []],
  [{ macAddress: "dead.0000.beaf" }, []],
  [{ model: "ne3k" }, [`NotSupported ${at}[0].model`]],
  [{ macAddress: "de:ad" }, [`Invalid ${at}[0].macAddress`]],
  [{ macAddress: "de:ad:00:00:be:af:00:01" }, [`Invalid ${at}[0].macAddress`]],
  [{ macAddress: "de:ad-00:00:be:af" }, [`Invalid ${at}[0].macAddress`]],
  [{ pciAddress: "0000:81:01" }, [`Invalid ${at}[0].pciAddress`]],
  [{ ports: [{ port: 80 }, { name: "web", port: 443, protocol: "UDP" }] }, []],
  [
    {
      ports: [
        { name: "a", port: 1 },
        { name: "a", port: 2 },
      ],
    },
    [`Duplicate ${at}[0].ports[1].name`],
  ],
  [{ ports: [{ name: "A", port: 1 }] }, [`Invalid ${at}[0].ports[0].name`]],
  [{ ports: [{ port: 0 }] }, [`Required ${at}[0].ports[0].port`]],
  [{ ports: [{ port: -1 }] }, [`Invalid ${at}[0].ports[0].port`]],
  [{ ports: [{ port: 65536 }] }, [`Invalid ${at}[0].ports[0].port`]],
  [{ ports: [{ port: 1, protocol: "SCTP" }] }, [`Invalid ${at}[0].ports[0].protocol`]],
  [
    { dhcpOptions: { ntpServers: ["010.0.0.1"], privateOptions: [{ option: 240, value: "x" }] } },
    [],
  ],
  [{ dhcpOptions: { ntpServers: ["::1"] } }, [`Invalid ${at}[0].dhcpOptions.ntpServers[0]`]],
  [
    {
      dhcpOptions: {
        privateOptions: [
          { option: 223, value: "" },
          { option: 223, value: "" },
        ],
      },
    },
    ["Invalid spec", "Invalid spec", "Invalid spec"],
  ],
])("fields: %j: %j", (fields, expected) => {
  expect(verdict(net([pod()], [masquerade(fields)]))).toEqual(expected);
});

test("an interface name has no dots; ports off the Pod network are not checked", () => {
  expect(verdict(net([multus("a.b")], [bridge("a.b", { ports: [{ port: 0 }] })]))).toEqual([
    `Invalid ${at}[0].name`,
  ]);
});

const range = (start: number, end: number, protocol = "TCP"): Change => ({ start, end, protocol });
const ranges = `Invalid ${at}[0].portRanges`;

test.each<[Change, string[]]>([
  [masquerade({ portRanges: [range(1, 10), range(11, 20), range(5, 15, "UDP")] }), []],
  [masquerade({ portRanges: [], ports: [] }), [`Invalid ${at}[0].name`]],
  [bridge("default", { portRanges: [range(1, 2)] }), [`Invalid ${at}[0].name`]],
  [masquerade({ portRanges: Array.from({ length: 11 }, (_, i) => range(i + 1, i + 1)) }), [ranges]],
  [masquerade({ portRanges: [range(1, 2, "SCTP")] }), [`${ranges}[0].protocol`]],
  [masquerade({ portRanges: [range(0, 2)] }), [`${ranges}[0].start`]],
  [masquerade({ portRanges: [range(1, 65536)] }), [`${ranges}[0].end`]],
  [masquerade({ portRanges: [range(2, 1)] }), [`${ranges}[0].start`]],
  [masquerade({ portRanges: [range(10, 20), range(1, 10), range(20, 30)] }), [ranges, ranges]],
])("port ranges: %j: %j", (iface, expected) => {
  expect(verdict(net([pod()], [iface]), { gates: ["PortRangesSpec"] })).toEqual(expected);
});

test("port ranges need their gate, even an empty list", () => {
  expect(verdict(net([pod()], [masquerade({ portRanges: [] })]))).toEqual([
    `Invalid ${at}[0].name`,
  ]);
});

const claimed = (claimName?: string, requestName?: string, name = "c"): Change => ({
  name,
  resourceClaim: {
    ...(claimName === undefined ? {} : { claimName }),
    ...(requestName === undefined ? {} : { requestName }),
  },
});
const claims: Change = { resourceClaims: [{ name: "nic", resourceClaimName: "nic-1" }] };
const sriov = (name = "c"): Change => ({ name, sriov: {} });

test.each<[string, Change, string[]]>([
  ["a device", net([claimed("nic", "r")], [sriov()], claims), []],
  [
    "beside Multus",
    net([claimed("nic", "r"), multus("b")], [sriov(), bridge("b")], claims),
    ["Invalid spec.networks"],
  ],
  ["on a bridge", net([claimed("nic", "r")], [bridge("c")], claims), [`Invalid ${at}`]],
  [
    "without names",
    net([claimed()], [sriov()], claims),
    [
      "Required spec.networks[0].resourceClaim.claimName",
      "Required spec.networks[0].resourceClaim.requestName",
    ],
  ],
  [
    "not listed",
    net([claimed("x", "r")], [sriov()], claims),
    ["NotFound spec.networks[0].resourceClaim.claimName"],
  ],
  [
    "twice",
    net([claimed("nic", "r"), claimed("nic", "r", "d")], [sriov(), sriov("d")], claims),
    ["Duplicate spec.networks[1]"],
  ],
])("resource claim: %s", (_, change, expected) => {
  expect(verdict(change, { gates: ["NetworkDevicesWithDRA"] })).toEqual(expected);
});

test("networks from resource claims need their gate", () => {
  expect(verdict(net([claimed("nic", "r")], [sriov()], claims))).toEqual(["Invalid spec.networks"]);
});
