import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import { lookupIn } from "./cluster-lookup.ts";
import { isLauncherPodError } from "./launcher-pod-error.ts";
import type { Pod } from "./pod/pod.ts";
import { explainLauncherPod, renderLauncherPod } from "./render-launcher-pod.ts";
import { claim, testProfile, testVmi } from "./testing/render.ts";

const config = clusterConfig({
  network: { binding: { p: { sidecarImage: "p:1", downwardAPI: "device-info" } } },
  developerConfiguration: { nodeSelectors: { zone: "a" }, featureGates: ["Plugins", "IOMMUFD"] },
});
const lookup = lookupIn({
  persistentVolumeClaims: [
    claim("c", { accessModes: ["ReadWriteMany"] }),
    claim("state", {}, { labels: { "persistent-state-for": "guest" } }),
  ],
});

/** A VMI that uses most steps. */
const rich: VirtualMachineInstance = testVmi({
  metadata: { labels: { l: "1" }, annotations: { a: "1" } },
  spec: {
    architecture: "amd64",
    nodeSelector: { disk: "fast" },
    livenessProbe: { exec: { command: ["true"] } },
    accessCredentials: [
      {
        sshPublicKey: {
          source: { secret: { secretName: "keys" } },
          propagationMethod: { noCloud: {} },
        },
      },
    ],
    networks: [{ name: "n", pod: {} }],
    volumes: [
      { name: "disk", containerDisk: { image: "x:1" } },
      { name: "claim", persistentVolumeClaim: { claimName: "c" } },
      { name: "map", configMap: { name: "m" } },
      { name: "ci", cloudInitNoCloud: { secretRef: { name: "s" } } },
      { name: "host", hostDisk: { path: "/d/x", type: "Disk" } },
      { name: "prep", sysprep: { secret: { name: "p" } } },
      { name: "metrics", downwardMetrics: {} },
    ],
  },
  domain: {
    cpu: { cores: 2, model: "Penryn", features: [{ name: "f" }, { name: "g", policy: "forbid" }] },
    memory: { guest: "1Gi", hugepages: { pageSize: "2Mi" } },
    machine: { type: "q35" },
    firmware: { kernelBoot: { container: { image: "k:1" } } },
    launchSecurity: { sev: {} },
  },
  devices: {
    disks: [{ name: "map" }, { name: "claim", lun: { reservation: true } }],
    filesystems: [{ name: "map", virtiofs: {} }],
    interfaces: [{ name: "n", binding: { name: "p" } }],
    gpus: [{ name: "gpu", deviceName: "x/gpu" }],
    tpm: { persistent: true },
  },
});

const render = (vmi: VirtualMachineInstance, where = config): Pod =>
  renderLauncherPod(vmi, where, lookup, { profile: testProfile });

test("explains exactly the containers, volumes, resources, selectors, labels and annotations", () => {
  const classic = clusterConfig({
    ...config.configuration,
    developerConfiguration: { disabledFeatureGates: ["ImageVolume"] },
  });
  for (const where of [config, classic]) {
    const { pod, provenance } = explainLauncherPod(rich, where, lookup, { profile: testProfile });
    const explained = new Set(provenance.map(({ part }) => part));
    const parts = partsOf(pod);
    expect(parts.filter((part) => !explained.has(part))).toEqual([]);
    const others = [...explained].filter((part) => !parts.includes(part));
    expect(others.filter((part) => !part.startsWith("spec.affinity"))).toEqual([]);
    expect(provenance.every(({ from, because }) => from && because)).toBe(true);
    expect(pod).toEqual(render(rich, where));
  }
});

function partsOf({ metadata, spec }: Pod): string[] {
  const { requests, limits } = spec.containers[0]?.resources ?? {};
  const keys = (prefix: string, of: object | undefined): string[] =>
    Object.keys(of ?? {}).map((key) => `${prefix}[${key}]`);
  const named = (prefix: string, of: readonly { name: string }[] | undefined): string[] =>
    (of ?? []).map(({ name }) => `${prefix}[${name}]`);
  return [
    ...named("spec.containers", spec.containers),
    ...named("spec.initContainers", spec.initContainers),
    ...named("spec.volumes", spec.volumes),
    ...keys("spec.containers[compute].resources.requests", requests),
    ...keys("spec.containers[compute].resources.limits", limits),
    ...keys("spec.nodeSelector", spec.nodeSelector),
    ...keys("metadata.annotations", metadata.annotations),
    ...keys("metadata.labels", metadata.labels),
  ];
}

test("rendering does not change its arguments, and returns the same each time", () => {
  const before = structuredClone(rich);
  expect(render(rich)).toEqual(render(rich));
  expect(rich).toEqual(before);
});

test.each([
  [{}, "spec"],
  [{ metadata: { name: "a" } }, "spec"],
  [{ ...rich, spec: { domain: {} } }, "spec.domain.devices"],
  [{ ...rich, spec: { ...rich.spec, volumes: [null] } }, "spec.volumes[0]"],
  [{ ...rich, metadata: { name: "a" } }, "metadata.namespace"],
  [{ ...rich, metadata: { namespace: "a" } }, "metadata.name"],
])("refuses %j as malformed at or below %s", (vmi, path) => {
  expect(() => render(vmi as VirtualMachineInstance)).toThrow(
    expect.objectContaining({
      code: "LAUNCHER_POD_VMI_INVALID",
      path: expect.stringContaining(path) as string,
    }),
  );
});

/** Every place in a value, as a path of keys. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [
    path,
    ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...path, key])),
  ];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<
    string,
    unknown
  >;
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, "", "x", 0, -1, 1e300, Number.NaN, true, [], {}),
  fc.constantFrom<unknown>([null], [[]], ["__proto__"], { __proto__: 1 }, { length: 9 }),
  fc.jsonValue({ maxDepth: 2 }),
);
const places = placesIn(rich);
const attacks = fc.array(fc.tuple(fc.constantFrom(...places), odd), { minLength: 1, maxLength: 3 });

/** What is thrown for an attacked VMI, if it is not an error of ours. */
function escaped(
  changes: readonly (readonly [readonly string[], unknown])[],
  run: (vmi: VirtualMachineInstance) => unknown,
): unknown {
  let vmi: unknown = rich;
  for (const [path, by] of changes) {
    try {
      vmi = replaced(vmi, path, by);
    } catch {
      // An earlier change has removed the place.
    }
  }
  try {
    run(vmi as VirtualMachineInstance);
    return undefined;
  } catch (error) {
    return isLauncherPodError(error) ? undefined : error;
  }
}

test("whatever a VMI has in the wrong place, only our own errors are thrown", () => {
  fc.assert(
    fc.property(attacks, (changes) => {
      const error = escaped(changes, render);
      if (error !== undefined) throw error;
    }),
    { numRuns: 1000 },
  );
});

test("control: the same attack finds a renderer that trusts its input", () => {
  const trusting = (vmi: VirtualMachineInstance): unknown =>
    vmi.spec.volumes?.map(({ name }) => name.length);
  const result = fc.check(
    fc.property(attacks, (changes) => escaped(changes, trusting) === undefined),
    { numRuns: 1000 },
  );
  expect(result.failed).toBe(true);
});
