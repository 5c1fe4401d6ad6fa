import { clusterConfig } from "@virtkit/api/config";
import { encodeGrant, type Grant, grantAnnotation } from "@virtkit/api/grant";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import type { Plan } from "../plan/plan.ts";
import type { WriteOutcome } from "../plan/write-outcome.ts";
import { planReplicaSet } from "./plan-replica-set.ts";
import type { ReplicaSetView } from "./replica-set-view.ts";

const config = clusterConfig();
const now = Date.parse("2026-01-01T00:00:00Z");
const refused: WriteOutcome = { kind: "refused", refusal: { reason: "Forbidden", message: "no" } };

const replicaSet: ReplicaSetView["replicaSet"] = {
  metadata: {
    name: "web",
    namespace: "ns",
    uid: "set",
    annotations: {
      [config.names.annotations.latestObservedApiVersion]: "v1",
      [config.names.annotations.storageObservedApiVersion]: "v1",
    },
  },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { domain: { devices: {} } } },
  },
  status: { labelSelector: "app=web" },
};

function replica(
  name: string,
  { born = "2025-01-01T00:00:00Z", ready = true, phase = "Running", owner = "set" } = {},
): VirtualMachineInstance {
  return {
    metadata: {
      name,
      namespace: "ns",
      uid: name,
      creationTimestamp: born,
      labels: { app: "web" },
      ...(owner
        ? {
            ownerReferences: [
              { apiVersion: "v", kind: "k", name: "n", uid: owner, controller: true },
            ],
          }
        : {}),
    },
    spec: { domain: { devices: {} } },
    status: { phase, conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  };
}

function deleted({ writes }: Plan): readonly string[] {
  return writes.flatMap((write) => (write.kind === "delete" ? [write.object.name] : []));
}

test("deletes VMIs that serve nobody first, then the youngest", () => {
  const vmis = [
    replica("old"),
    replica("young", { born: "2025-06-01T00:00:00Z" }),
    replica("starting", { phase: "Scheduling", ready: false }),
    replica("sick", { ready: false }),
  ];
  const keep = (replicas: number): readonly string[] => {
    const wanted = { ...replicaSet, spec: { ...replicaSet.spec, replicas } };
    return deleted(planReplicaSet({ replicaSet: wanted, vmis }, config, now));
  };
  expect(keep(3)).toEqual(["starting"]);
  expect(keep(1)).toEqual(["starting", "sick", "young"]);
});

const holderOn = (node: string) => ({
  ...{ podUID: `pod-${node}`, containerID: `containerd://${node}`, node },
  ...{ machineID: `machine-${node}`, bootID: `boot-${node}`, nonce: `nonce-${node}` },
});
const counted = { vmiUID: "a", epoch: 1, seq: 3 };
const moving = { holder: holderOn("n1"), target: holderOn("n2"), migrationUID: "m1" };

test.each<[string, boolean, Grant | undefined]>([
  ["that has no run grant", true, undefined],
  ["that runs there", true, { state: "Claimed", ...counted, holder: holderOn("n1") }],
  ["that is being handed over", false, { state: "HandingOver", ...counted, ...moving }],
  ["that has left it", false, { state: "Released", ...counted, ...moving }],
  ["that leaves it by post-copy", false, { state: "Committed", ...counted, ...moving }],
])("if the Pod of a guest %s ends, the VMI is replaced: %s", (_, isReplaced, grant) => {
  const { metadata, ...rest } = replica("a");
  const key = config.names.own(grantAnnotation);
  const annotations = grant ? { [key]: encodeGrant(grant) } : {};
  const conditions = [{ type: "Ready", status: "False", reason: "PodTerminating" }];
  const vmi = { ...rest, metadata: { ...metadata, annotations }, status: { conditions } };
  const wanted = { ...replicaSet, spec: { ...replicaSet.spec, replicas: 1 } };
  const plan = planReplicaSet({ replicaSet: wanted, vmis: [vmi as never] }, config, now);
  expect(deleted(plan)).toEqual(isReplaced ? ["a"] : []);
  expect(plan.writes.some(({ kind }) => kind === "create")).toBe(isReplaced);
});

test("deletes a VMI by UID, so that its successor is safe", () => {
  const view = { replicaSet: { ...replicaSet, spec: { ...replicaSet.spec, replicas: 0 } } };
  const { writes } = planReplicaSet({ ...view, vmis: [replica("a")] }, config, now);
  expect(writes[0]).toMatchObject({ kind: "delete", uid: "a" });
});

test("creates and deletes nothing while the view lags behind", () => {
  const view: ReplicaSetView = { replicaSet, vmis: [], expected: "creation" };
  expect(planReplicaSet(view, config, now).writes).toEqual([]);
});

test("neither counts nor touches a VMI of another owner", () => {
  const vmis = [replica("theirs", { owner: "other" })];
  const { writes } = planReplicaSet({ replicaSet, vmis }, config, now);
  expect(writes.map(({ kind }) => kind)).toEqual(["create", "create"]);
});

test("reports a refused creation and continues with the others", () => {
  const plan = planReplicaSet({ replicaSet, vmis: [] }, config, now, [refused]);
  expect(plan.writes.map(({ kind }) => kind)).toEqual(["create", "create", "patch"]);
  expect(plan.events.map(({ reason }) => reason)).toEqual(["FailedCreate", "SuccessfulCreate"]);
  expect(plan.error).toMatchObject({ kind: "api", reason: "Forbidden" });
});

test("creates no VMIs if the selector does not match the template", () => {
  const spec = { ...replicaSet.spec, selector: { matchLabels: { app: "else" } } };
  const view = { replicaSet: { ...replicaSet, spec }, vmis: [] };
  expect(planReplicaSet(view, config, now)).toEqual({ writes: [], events: [] });
});
