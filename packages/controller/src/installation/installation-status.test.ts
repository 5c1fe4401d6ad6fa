import type { KubeVirt } from "@virtkit/api/schema";
import type { KubeObject } from "@virtkit/kube";
import { expect, test } from "vitest";
import { installationStatus } from "./installation-status.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const later = now + 60_000;

/** The programs of an installation: all of them ready with their image, except the unready ones. */
function workloads(image: string, unready: readonly string[] = []): readonly KubeObject[] {
  const spec = { template: { spec: { containers: [{ image }] } } };
  const common = { observedGeneration: 1 };
  return ["virt-api", "virt-controller", "virt-handler"].map((name) => {
    const ready = unready.includes(name) ? 0 : 2;
    const status =
      name === "virt-handler"
        ? { ...common, desiredNumberScheduled: 2, numberReady: ready, updatedNumberScheduled: 2 }
        : { ...common, readyReplicas: ready, updatedReplicas: 2 };
    const metadata = { namespace: "kubevirt", name, generation: 1 };
    return { metadata, spec: { replicas: 2, ...spec }, status } as KubeObject;
  });
}

function statusOf(
  before: KubeVirt["status"],
  image: string,
  unready: readonly string[] = [],
  time = now,
): NonNullable<KubeVirt["status"]> {
  const kubevirt: KubeVirt = {
    metadata: { name: "kubevirt", namespace: "kubevirt", generation: 3 },
    spec: {},
    ...(before && { status: before }),
  };
  const programs = workloads(image, unready);
  const view = { kubevirt, workloads: programs, launcherImage: image, architecture: "arm64" };
  return installationStatus(view, time);
}

const conditionsOf = ({ conditions = [] }: NonNullable<KubeVirt["status"]>) =>
  Object.fromEntries(conditions.map(({ type, status }) => [type, status]));

const [one, two] = ["r.example/a/virtkit:1", "r.example/a/virtkit:2"];

test("an installation is deployed once all its programs are ready", () => {
  const first = statusOf(undefined, one, ["virt-handler"]);
  expect(first).toMatchObject({ phase: "Deploying", targetKubeVirtVersion: "1" });
  expect(first.observedDeploymentID).toBeUndefined();
  expect(conditionsOf(first)).toEqual({
    ...{ Created: "True", Available: "False", Progressing: "True", Degraded: "False" },
  });
  const ready = statusOf(first, one, [], later);
  expect(ready).toMatchObject({
    ...{ phase: "Deployed", observedGeneration: 3, defaultArchitecture: "arm64" },
    ...{ observedKubeVirtRegistry: "r.example/a", observedKubeVirtVersion: "1" },
    observedDeploymentID: first.targetDeploymentID,
  });
  expect(conditionsOf(ready)).toEqual({
    ...{ Created: "True", Available: "True", Progressing: "False", Degraded: "False" },
  });
  const times = ready.conditions?.map(({ lastTransitionTime }) => lastTransitionTime);
  const [then, after] = ["2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"];
  expect(times).toEqual([then, after, after, then]);
});

test("an update is in progress until all programs run the new image; until then, the old one counts as observed", () => {
  const old = statusOf(undefined, one);
  const during = statusOf(old, two, ["virt-controller"]);
  expect(during.phase).toBe("Deploying");
  expect(during.observedDeploymentID).toBe(old.observedDeploymentID);
  expect(during.targetDeploymentID).not.toBe(old.observedDeploymentID);
  expect(conditionsOf(during)).toMatchObject({ Progressing: "True", Degraded: "True" });
  const after = statusOf(during, two);
  expect(after).toMatchObject({ phase: "Deployed", observedKubeVirtVersion: "2" });
  expect(after.observedDeploymentID).toBe(during.targetDeploymentID);
});

test("a program that fails later does not undo the deployment, and the conditions name it", () => {
  const broken = statusOf(statusOf(undefined, one), one, ["virt-api"], later);
  expect(broken.phase).toBe("Deployed");
  expect(conditionsOf(broken)).toMatchObject({ Available: "False", Degraded: "True" });
  expect(broken.conditions?.find(({ type }) => type === "Degraded")).toMatchObject({
    reason: "ComponentsNotReady",
    message: "not all Pods of virt-api are up to date and ready",
  });
});

test("what others write stays, and a status that says the same stays the same", () => {
  const before = { outdatedVirtualMachineInstanceWorkloads: 2, defaultArchitecture: "amd64" };
  const status = statusOf(before, one);
  expect(status).toMatchObject(before);
  expect(statusOf(status, one, [], later)).toEqual(status);
});

test.each([
  ["localhost:5000/virtkit", "localhost:5000", ""],
  ["virtkit@sha256:ab", "", "sha256:ab"],
])("reads registry and version from %s", (image, registry, version) => {
  expect(statusOf(undefined, image)).toMatchObject({
    targetKubeVirtRegistry: registry,
    targetKubeVirtVersion: version,
  });
});
