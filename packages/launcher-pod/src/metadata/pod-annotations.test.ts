import { clusterConfig } from "@virtkit/api/config";
import { names } from "@virtkit/api/names";
import { expect, test } from "vitest";
import { lookupIn } from "../cluster-lookup.ts";
import { renderLauncherPod } from "../render-launcher-pod.ts";
import { render, testProfile, testVmi, withoutGates } from "../testing/render.ts";

test("copies annotations of the VMI to the Pod, except those about the VMI itself", () => {
  const annotations = {
    mine: "1",
    "kubectl.kubernetes.io/last-applied-configuration": "{}",
    "kubevirt.io/latest-observed-api-version": "v1",
    "kubevirt.io/storage-observed-api-version": "v1",
  };
  const own = render({ metadata: { annotations } }).metadata.annotations ?? {};
  expect(own["mine"]).toBe("1");
  expect(Object.keys(own).filter((key) => /observed|last-applied/.test(key))).toEqual([]);
  expect(own).toMatchObject({
    "kubevirt.io/domain": "guest",
    "kubectl.kubernetes.io/default-container": "compute",
    "kubevirt.io/migrationTransportUnix": "true",
    "descheduler.alpha.kubernetes.io/request-evict-only": "",
  });
});

test("records the memory overhead in bytes, unless that gate is off", () => {
  const key = "kubevirt.io/memory-overhead-bytes";
  expect(render({}).metadata.annotations?.[key]).toMatch(/^[0-9]+$/);
  expect(
    render({}, withoutGates("VmiMemoryOverheadReport")).metadata.annotations,
  ).not.toHaveProperty([key]);
});

test("a Pod that only binds volumes says so and runs no launcher", () => {
  const pod = render({}, { temporary: true });
  expect(pod.metadata.annotations?.["kubevirt.io/ephemeral-provisioning"]).toBe("true");
  expect(pod.spec.containers[0]?.command).toEqual(["/bin/bash", "-c", "echo", "bound PVCs"]);
});

test("leaves networks to Multus and Istio", () => {
  const networks = [
    { name: "default", pod: {} },
    { name: "red", multus: { networkName: "red" } },
  ];
  const interfaces = [
    { name: "default", masquerade: {} },
    { name: "red", bridge: {}, macAddress: "02:00:00:00:00:01" },
  ];
  const own = render({ spec: { networks }, devices: { interfaces } }).metadata.annotations ?? {};
  expect(own["istio.io/reroute-virtual-interfaces"]).toBe("k6t-eth0");
  expect(JSON.parse(own["k8s.v1.cni.cncf.io/networks"] ?? "")).toEqual([
    expect.objectContaining({ name: "red", namespace: "ns", mac: "02:00:00:00:00:01" }),
  ]);
});

test.each([
  ["true", false],
  ["1", false],
  ["yes", true],
  [undefined, true],
])("skip-backup-hooks %s: hooks are written %s", (value, written) => {
  const metadata = value ? { annotations: { "kubevirt.io/skip-backup-hooks": value } } : {};
  const own = render({ metadata }).metadata.annotations ?? {};
  expect(own["pre.hook.backup.velero.io/command"]).toBe(
    written
      ? '["/usr/bin/virt-freezer", "--freeze", "--name", "guest", "--namespace", "ns"]'
      : undefined,
  );
});

test("a platform with other names uses them everywhere", () => {
  const platform = names({ group: "vm.example" });
  const config = clusterConfig({}, { names: platform });
  const disks = [{ name: "d", disk: {} }];
  const volumes = [{ name: "d", containerDisk: { image: "x:1" } }];
  const vmi = testVmi({ spec: { volumes }, devices: { disks, interfaces: [{ name: "n" }] } });
  const pod = renderLauncherPod(vmi, config, lookupIn({}), { profile: testProfile });
  const text = JSON.stringify({ ...pod, spec: { ...pod.spec, containers: pod.spec.containers } });
  expect(text).toContain("devices.vm.example/kvm");
  expect(text).not.toContain("kubevirt.io");
});
