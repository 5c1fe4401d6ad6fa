import type { Pod } from "@virtkit/launcher-pod";
import { expect, test } from "vitest";
import { localLimits } from "./local-limits.ts";

function podWith(resources: Pod["spec"]["containers"][number]["resources"]): Pod {
  return { metadata: {}, spec: { containers: [{ name: "compute", resources }] } };
}

test("a CPU limit is a quota of the period, and a request a share", () => {
  const pod = podWith({
    limits: { cpu: "1500m", memory: "1Gi" },
    requests: { cpu: "500m", memory: "512Mi" },
  });
  expect(localLimits(pod, "kvm")).toEqual({
    memoryBytes: 2 ** 30,
    cpuQuota: { quotaUs: 150_000, periodUs: 100_000 },
    cpuShares: 512,
    pids: 4096,
  });
});

test("without a CPU limit there is no quota; without a request the limit is the share", () => {
  expect(localLimits(podWith({ requests: { cpu: "100m" } }), "kvm")).not.toHaveProperty("cpuQuota");
  expect(localLimits(podWith({ limits: { cpu: "2" } }), "kvm").cpuShares).toBe(2048);
});

test("moves values that the kernel would refuse to its limits", () => {
  const tiny = localLimits(podWith({ limits: { cpu: "1m" }, requests: { cpu: "0" } }), "kvm");
  expect(tiny).toMatchObject({ cpuQuota: { quotaUs: 1000 }, cpuShares: 2 });
  expect(localLimits(podWith({ requests: { cpu: "1000" } }), "kvm").cpuShares).toBe(262_144);
});

test("the caller's limit of processes takes precedence", () => {
  expect(localLimits(podWith({}), "kvm", 700).pids).toBe(700);
});
