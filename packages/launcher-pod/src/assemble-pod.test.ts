import type { VirtualMachineInstanceSpec } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { kubevirtLauncherProfile } from "./kubevirt-profile.ts";
import { render } from "./testing/render.ts";
import { virtkitLauncherProfile } from "./virtkit-profile.ts";

test("the Pod belongs to its VMI and is never restarted", () => {
  const { metadata, spec } = render({});
  expect(metadata).toMatchObject({
    generateName: "virt-launcher-guest-",
    namespace: "ns",
    ownerReferences: [
      {
        apiVersion: "kubevirt.io/v1",
        kind: "VirtualMachineInstance",
        name: "guest",
        uid: "uid-1",
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  });
  expect(spec).toMatchObject({
    restartPolicy: "Never",
    enableServiceLinks: false,
    automountServiceAccountToken: false,
    readinessGates: [{ conditionType: "kubevirt.io/virtual-machine-unpaused" }],
  });
});

test.each([
  [undefined, 60, "45"],
  [0, 30, "15"],
  [3600, 3630, "3615"],
])(
  "a grace period of %s gives the Pod %s seconds and the launcher %s",
  (seconds, pod, launcher) => {
    const grace = seconds === undefined ? {} : { terminationGracePeriodSeconds: seconds };
    const { spec } = render({ spec: grace });
    expect(spec.terminationGracePeriodSeconds).toBe(pod);
    const command = spec.containers[0]?.command ?? [];
    expect(command[command.indexOf("--grace-period-seconds") + 1]).toBe(launcher);
  },
);

test("copies what means the same for a VMI and its Pod, and leaves out what is empty", () => {
  const same: Partial<VirtualMachineInstanceSpec> = {
    subdomain: "sub",
    dnsPolicy: "None",
    dnsConfig: { nameservers: ["10.0.0.1"] },
    schedulerName: "mine",
    priorityClassName: "high",
    tolerations: [{ operator: "Exists" }],
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" },
    ],
    resourceClaims: [{ name: "c", resourceClaimTemplateName: "t" }],
  };
  const pod = render({ spec: same }, { configuration: { defaultRuntimeClass: "kata" } });
  expect(pod.spec).toMatchObject({ ...same, runtimeClassName: "kata" });
  const bare = render({ spec: { tolerations: [], subdomain: "" } }).spec;
  expect(Object.keys(bare)).not.toEqual(expect.arrayContaining(["tolerations"]));
  expect(Object.keys(bare)).not.toEqual(expect.arrayContaining(["subdomain"]));
});

test.each<
  [Partial<VirtualMachineInstanceSpec>, Record<string, string>, string | undefined, boolean]
>([
  [{}, {}, undefined, false],
  [{ serviceAccountName: "a" }, {}, "a", false],
  [volumeOf("b"), {}, "b", true],
  [{ ...volumeOf("b"), serviceAccountName: "a" }, {}, "a", true],
  [{}, { "sidecar.istio.io/inject": "TRUE" }, undefined, true],
])("%j with %j runs as %s, token mounted: %s", (spec, annotations, account, token) => {
  const pod = render({ metadata: { annotations }, spec });
  expect(pod.spec.serviceAccountName).toBe(account);
  expect(pod.spec.automountServiceAccountToken).toBe(token);
});

function volumeOf(serviceAccountName: string): Partial<VirtualMachineInstanceSpec> {
  return { volumes: [{ name: "v", serviceAccount: { serviceAccountName } }] };
}

test("names each pull secret once", () => {
  const volumes = ["a", "b", "a"].map((imagePullSecret, index) => ({
    name: `d${index}`,
    containerDisk: { image: "x:1", imagePullSecret },
  }));
  const kernelBoot = { container: { image: "k:1", imagePullSecret: "k" } };
  const profile = kubevirtLauncherProfile({ image: "l:1", imagePullSecret: "a" });
  const pod = render({ spec: { volumes }, domain: { firmware: { kernelBoot } } }, { profile });
  expect(pod.spec.imagePullSecrets).toEqual([{ name: "a" }, { name: "b" }, { name: "k" }]);
  expect(render({}).spec.imagePullSecrets).toBeUndefined();
});

test("our own launcher's Pods stay until their guest is proven to have ended", () => {
  const pod = render({}, { profile: virtkitLauncherProfile() });
  expect(pod.metadata.finalizers).toEqual(["virtkit.io/proof-of-end"]);
  expect(pod.spec.containers[0]?.command?.[0]).toBe("/usr/bin/virtkit-launcher");
  expect(render({}).metadata.finalizers).toBeUndefined();
});

test("ports of interfaces are ports of the container, TCP by default", () => {
  const interfaces = [
    {
      name: "a",
      ports: [
        { name: "ssh", port: 22 },
        { port: 53, protocol: "UDP" },
      ],
    },
    { name: "b", ports: [{ port: 80 }] },
  ];
  expect(render({ devices: { interfaces } }).spec.containers[0]?.ports).toEqual([
    { name: "ssh", containerPort: 22, protocol: "TCP" },
    { containerPort: 53, protocol: "UDP" },
    { containerPort: 80, protocol: "TCP" },
  ]);
});
