import { expect, test } from "vitest";
import { render, type Scene, type VmiParts, withGates } from "../testing/render.ts";

function selector(parts: VmiParts, scene?: Scene): Record<string, string> {
  const { "kubevirt.io/schedulable": _, ...rest } = render(parts, scene).spec.nodeSelector ?? {};
  return rest;
}

test("a node must be schedulable; the VMI's selector takes precedence over the cluster's", () => {
  const configuration = { developerConfiguration: { nodeSelectors: { a: "1", b: "1" } } };
  const pod = render({ spec: { nodeSelector: { b: "2" } } }, { configuration });
  expect(pod.spec.nodeSelector).toEqual({ "kubevirt.io/schedulable": "true", a: "1", b: "2" });
});

test.each<[VmiParts, string[]]>([
  [{ domain: { cpu: { model: "host-model" } } }, []],
  [{ domain: { cpu: { model: "host-passthrough" } } }, []],
  [{ domain: { cpu: { model: "Penryn" } } }, ["cpu-model.node.kubevirt.io/Penryn"]],
  [
    {
      domain: {
        cpu: {
          model: "host-model",
          features: [
            { name: "a" },
            { name: "b", policy: "require" },
            { name: "c", policy: "optional" },
          ],
        },
      },
    },
    ["cpu-feature.node.kubevirt.io/a", "cpu-feature.node.kubevirt.io/b"],
  ],
  [{ domain: { cpu: { features: [{ name: "a" }] } } }, []],
  [{ domain: { cpu: { cores: 1, dedicatedCpuPlacement: true } } }, ["kubevirt.io/cpumanager"]],
  [{ domain: { cpu: { realtime: {} } } }, ["kubevirt.io/realtime"]],
  [{ domain: { launchSecurity: { sev: {} } } }, ["kubevirt.io/sev"]],
  [
    { domain: { launchSecurity: { sev: { policy: { encryptedState: true } } } } },
    ["kubevirt.io/sev", "kubevirt.io/sev-es"],
  ],
  [{ domain: { launchSecurity: { snp: {} } } }, ["kubevirt.io/sev", "kubevirt.io/sev-snp"]],
  [{ domain: { launchSecurity: { tdx: {} } } }, ["kubevirt.io/tdx"]],
  [
    { spec: { architecture: "s390x" }, domain: { launchSecurity: {} } },
    ["kubernetes.io/arch", "kubevirt.io/s390-pv"],
  ],
  [
    { domain: { machine: { type: "q35" } }, status: { machine: { type: "pc-q35-9.2" } } },
    ["machine-type.node.kubevirt.io/pc-q35-9.2"],
  ],
])("%j needs %j", (parts, labels) => {
  expect(Object.keys(selector(parts)).sort()).toEqual(labels);
});

test.each<[string, VmiParts["domain"], boolean]>([
  ["invtsc is required", { cpu: { features: [{ name: "invtsc", policy: "require" }] } }, true],
  ["invtsc is optional", { cpu: { features: [{ name: "invtsc", policy: "optional" }] } }, false],
  ["it reenlightens", { features: { hyperv: { reenlightenment: { enabled: true } } } }, true],
  ["nothing depends on it", {}, false],
])("the TSC frequency counts if %s", (_, domain, counts) => {
  const status = { topologyHints: { tscFrequency: 2_400_000_000 } };
  const key = "scheduling.node.kubevirt.io/tsc-frequency-2400000000";
  expect(key in selector({ domain: domain ?? {}, status })).toBe(counts);
});

test("enlightenments of the host's kernel count only under HypervStrictCheck", () => {
  const hyperv = {
    vpindex: { enabled: true },
    synictimer: { enabled: true },
    ipi: { enabled: false },
    relaxed: { enabled: true },
    evmcs: {},
  };
  const parts = { domain: { features: { hyperv } } };
  expect(selector(parts)).toEqual({});
  expect(Object.keys(selector(parts, withGates("HypervStrictCheck"))).sort()).toEqual([
    "cpu-vendor.node.kubevirt.io/Intel",
    "hyperv.node.kubevirt.io/synictimer",
    "hyperv.node.kubevirt.io/vpindex",
  ]);
});

test("if other architectures are emulated, the node's own is only preferred", () => {
  const parts: VmiParts = { spec: { architecture: "ARM64" } };
  const scene = withGates("CrossArchitectureVirtualization");
  expect(selector(parts)).toEqual({ "kubernetes.io/arch": "arm64" });
  expect(selector(parts, scene)).toEqual({ "kubevirt.io/vm-arch-ARM64": "true" });
  const preferred = render(parts, scene).spec.affinity?.nodeAffinity;
  expect(preferred?.preferredDuringSchedulingIgnoredDuringExecution).toEqual([
    {
      weight: 100,
      preference: {
        matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values: ["arm64"] }],
      },
    },
  ]);
});
