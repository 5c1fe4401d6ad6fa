import { expect, test } from "vitest";
import { kubevirtLauncherProfile } from "../kubevirt-profile.ts";
import { container, render, type Scene, type VmiParts } from "../testing/render.ts";

const sidecars = (...list: object[]): VmiParts => ({
  metadata: { annotations: { "hooks.kubevirt.io/hookSidecars": JSON.stringify(list) } },
});

const objects = { configMaps: [{ metadata: { name: "script", namespace: "ns" } }] };

test("each sidecar has its own directory of sockets and knows its name", () => {
  const pod = render(sidecars({ image: "a:1", args: ["x"] }, { image: "b:1", command: ["y"] }));
  expect(container(pod, "hook-sidecar-1")).toMatchObject({
    image: "b:1",
    command: ["y"],
    volumeMounts: [
      {
        name: "hook-sidecar-sockets",
        mountPath: "/var/run/kubevirt-hooks",
        subPath: "hook-sidecar-1",
      },
    ],
  });
  const env = container(pod, "hook-sidecar-1")?.env;
  expect(env).toContainEqual({ name: "CONTAINER_NAME", value: "hook-sidecar-1" });
  expect(container(pod, "compute")?.command).toEqual(
    expect.arrayContaining(["--hook-sidecars", "2"]),
  );
});

test("a script comes from a ConfigMap, which must exist", () => {
  const configMap = { name: "script", key: "run.sh", hookPath: "/usr/bin/onDefineDomain" };
  const pod = render(sidecars({ configMap }), { objects });
  expect(pod.spec.volumes?.at(-1)).toEqual({
    name: "script",
    configMap: { name: "script", defaultMode: 0o755 },
  });
  expect(container(pod, "hook-sidecar-0")?.volumeMounts).toContainEqual({
    name: "script",
    mountPath: "/usr/bin/onDefineDomain",
    subPath: "run.sh",
  });
  expect(() => render(sidecars({ configMap }))).toThrow(
    expect.objectContaining({ code: "LAUNCHER_POD_NOT_FOUND" }),
  );
});

test("a claim may be shared with the compute container", () => {
  const pvc = { name: "data", volumePath: "/data", sharedComputePath: "/shared" };
  const pod = render(sidecars({ image: "a:1", pvc }));
  expect(container(pod, "hook-sidecar-0")?.volumeMounts).toContainEqual({
    name: "data",
    mountPath: "/data",
  });
  expect(container(pod, "compute")?.volumeMounts).toContainEqual({
    name: "data",
    mountPath: "/shared",
  });
});

test("a sidecar without an image uses the profile's", () => {
  const profile = kubevirtLauncherProfile({ image: "l:1", hookSidecarImage: "shim:1" });
  const pod = render(sidecars({}), { profile });
  expect(container(pod, "hook-sidecar-0")?.image).toBe("shim:1");
});

test("resources come from the configuration, with limits if the Pod must be Guaranteed", () => {
  const supportContainerResources = [
    { type: "sidecar", resources: { requests: { cpu: "7m" }, limits: { memory: "9M" } } },
  ];
  const scene: Scene = { configuration: { supportContainerResources } };
  const found = (parts: VmiParts, where?: Scene): unknown =>
    container(render({ ...sidecars({ image: "a:1" }), ...parts }, where), "hook-sidecar-0")
      ?.resources;
  expect(found({})).toEqual({});
  expect(found({}, scene)).toEqual({ requests: { cpu: "7m" }, limits: { memory: "9M" } });
  const amounts = { cpu: "200m", memory: "9M" };
  expect(found({ domain: { cpu: { cores: 1, dedicatedCpuPlacement: true } } }, scene)).toEqual({
    limits: amounts,
    requests: amounts,
  });
});

test("network binding plugins add one sidecar each", () => {
  const binding = {
    p: { sidecarImage: "p:1", downwardAPI: "device-info" },
    q: { networkAttachmentDefinition: "" },
  };
  const interfaces = ["a", "b", "c"].map((name) => ({
    name,
    binding: { name: name === "c" ? "q" : "p" },
  }));
  const networks = interfaces.map(({ name }) => ({ name, pod: {} }));
  const pod = render(
    { spec: { networks }, devices: { interfaces } },
    { configuration: { network: { binding } } },
  );
  expect(pod.spec.containers.map(({ name }) => name)).toEqual(["compute", "hook-sidecar-0"]);
  const sidecar = container(pod, "hook-sidecar-0");
  expect(sidecar?.env).toContainEqual({ name: "NETWORK_BINDING_PLUGIN_NAME", value: "p" });
  expect(sidecar?.volumeMounts).toContainEqual({
    name: "network-info-annotation",
    mountPath: "/etc/podinfo",
  });
});
