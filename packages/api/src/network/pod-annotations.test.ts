import { expect, test } from "vitest";
import { clusterConfig } from "../config/index.ts";
import type { Interface, Network, VirtualMachineInstance } from "../schema/index.ts";
import { networksAnnotation } from "./multus-annotation.ts";
import { networkStatusAnnotation } from "./network-status.ts";
import {
  defaultNetworkAnnotation,
  livePodAnnotations,
  podAnnotations,
  targetPodAnnotations,
} from "./pod-annotations.ts";
import { hashedPodInterface } from "./pod-interface-names.ts";

const config = clusterConfig({
  network: {
    binding: {
      plug: { networkAttachmentDefinition: "other/nad" },
      info: { downwardAPI: "device-info" },
    },
  },
});

const vmi = (
  interfaces: Interface[],
  networks: Network[],
  known: string[] = [],
): VirtualMachineInstance => ({
  metadata: { name: "vmi", namespace: "ns" },
  spec: { domain: { devices: { interfaces } }, networks },
  status: { interfaces: known.map((name) => ({ name })) },
});
const pod = (statuses: unknown, networks?: string) => ({
  metadata: {
    annotations: {
      [networkStatusAnnotation]: JSON.stringify(statuses),
      ...(networks === undefined ? {} : { [networksAnnotation]: networks }),
    },
  },
});
const red: Network = { name: "red", multus: { networkName: "red-net" } };
const asked = (answer: ReturnType<typeof podAnnotations>): unknown =>
  "annotations" in answer ? JSON.parse(answer.annotations[networksAnnotation] ?? "[]") : answer;

test("requests a secondary network from Multus, with its MAC, in the VMI's namespace", () => {
  const answer = podAnnotations(
    vmi([{ name: "red", bridge: {}, macAddress: "02:00:00:00:00:01" }], [red]),
    config,
  );
  expect(asked(answer)).toEqual([
    {
      name: "red-net",
      namespace: "ns",
      mac: "02:00:00:00:00:01",
      interface: hashedPodInterface("red"),
    },
  ]);
});

test("does not request an absent interface", () => {
  const answer = podAnnotations(vmi([{ name: "red", bridge: {}, state: "absent" }], [red]), config);
  expect(answer).toEqual({ annotations: {} });
});

test("the Multus default replaces the Pod network, and masquerade informs Istio about its bridge", () => {
  const networks: Network[] = [{ name: "m", multus: { networkName: "a/b", default: true } }];
  expect(podAnnotations(vmi([{ name: "m", masquerade: {} }], networks), config)).toEqual({
    annotations: {
      [defaultNetworkAnnotation]: "a/b",
      "traffic.sidecar.istio.io/kubevirtInterfaces": "k6t-eth0",
      "istio.io/reroute-virtual-interfaces": "k6t-eth0",
    },
  });
});

test("a binding plugin may add its own attachment", () => {
  const answer = podAnnotations(
    vmi([{ name: "d", binding: { name: "plug" } }], [{ name: "d", pod: {} }]),
    config,
  );
  expect(asked(answer)).toEqual([
    { name: "nad", namespace: "other", "cni-args": { logicNetworkName: "d" } },
  ]);
});

test("reports a binding plugin that is not registered, by name", () => {
  const answer = podAnnotations(
    vmi([{ name: "d", binding: { name: "zzz" } }], [{ name: "d", pod: {} }]),
    config,
  );
  expect(answer).toMatchObject({ problem: { kind: "unknown-binding", name: "zzz" } });
});

test("a migration keeps ordinal names only while the gate that renames them is off", () => {
  const source = pod([{ interface: "net1" }]);
  const subject = vmi([{ name: "red", bridge: {} }], [red]);
  const off = clusterConfig({
    developerConfiguration: { disabledFeatureGates: ["PodSecondaryInterfaceNamingUpgrade"] },
  });
  expect(targetPodAnnotations(subject, source, config)).toBeUndefined();
  expect(targetPodAnnotations(subject, pod([{ interface: "podx" }]), off)).toBeUndefined();
  const kept = targetPodAnnotations(subject, source, off);
  expect(kept && asked(kept)).toMatchObject([{ name: "red-net", interface: "net1" }]);
});

test("reports a migration of a network without an interface", () => {
  const off = clusterConfig({
    developerConfiguration: { disabledFeatureGates: ["PodSecondaryInterfaceNamingUpgrade"] },
  });
  const answer = targetPodAnnotations(vmi([], [red]), pod([{ interface: "net1" }]), off);
  expect(answer).toMatchObject({ problem: { kind: "missing-interface", name: "red" } });
});

test("updates a running Pod about plugged and unplugged interfaces, and only about changes", () => {
  const plugged = vmi([{ name: "red", bridge: {} }], [red]);
  const first = livePodAnnotations(plugged, pod([]), config)[networksAnnotation];
  expect(first).toContain("red-net");
  expect(livePodAnnotations(plugged, pod([], first), config)).toEqual({});
  const known = vmi([{ name: "red", bridge: {} }], [red], ["red"]);
  expect(livePodAnnotations(known, pod([]), config)).toEqual({});
  const unplugged = vmi([{ name: "red", bridge: {}, state: "absent" }], [red], ["red"]);
  expect(livePodAnnotations(unplugged, pod([], first), config)).toEqual({
    [networksAnnotation]: "",
  });
});

test("does not plug an SR-IOV interface into a running Pod", () => {
  expect(livePodAnnotations(vmi([{ name: "red", sriov: {} }], [red]), pod([]), config)).toEqual({});
});

test("informs the launcher about devices, without unknown fields", () => {
  const subject = vmi([{ name: "red", binding: { name: "info" } }], [red], ["red"]);
  const status = {
    interface: hashedPodInterface("red"),
    mac: "02:00:00:00:00:01",
    mtu: 9000,
    "device-info": { extra: 1, pci: { "pci-address": "0000:01:00.0" }, type: "pci" },
  };
  const annotations = livePodAnnotations(subject, pod([status]), config);
  expect(JSON.parse(annotations["kubevirt.io/network-info"] ?? "")).toEqual({
    interfaces: [
      {
        network: "red",
        deviceInfo: { type: "pci", pci: { "pci-address": "0000:01:00.0" } },
        mac: "02:00:00:00:00:01",
        mtu: 9000,
      },
    ],
  });
});

test("writes annotations in Go's JSON format", () => {
  const odd: Network = { name: "red", multus: { networkName: "a<b>&c" } };
  const answer = podAnnotations(vmi([{ name: "red", bridge: {} }], [odd]), config);
  expect("annotations" in answer && answer.annotations[networksAnnotation]).toContain(
    "a\\u003cb\\u003e\\u0026c",
  );
});
