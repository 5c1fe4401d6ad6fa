import { names } from "@virtkit/api/names";
import { stateClaimLabel } from "@virtkit/launcher-pod/traits";
import { expect, test } from "vitest";
import { PlanDraft } from "../plan/plan-draft.ts";
import type { ClaimObject } from "../vmi/cluster-objects.ts";
import type { MigrationPass } from "./migration-pass.ts";
import { moveState } from "./target-state.ts";

const platform = names();
const ofVm = { [stateClaimLabel]: "vm" };
const ofMigration = { [platform.labels.migrationName]: "mig" };
const claim = (name: string, labels: Readonly<Record<string, string>>): ClaimObject => ({
  metadata: { namespace: "ns", name, uid: `uid-of-${name}`, labels },
});

/** What is written when a guest has moved, and the error. */
function moved(...claims: readonly ClaimObject[]) {
  const draft = new PlanDraft([]);
  const migrationState = {
    sourcePersistentStatePVCName: "source",
    targetPersistentStatePVCName: "target",
  };
  const pass = {
    ...{ draft, names: platform, namespace: "ns", name: "mig", view: { claims } },
    migration: { spec: { vmiName: "vm" }, status: { migrationState } },
  };
  const error = moveState(pass as unknown as MigrationPass);
  return [...draft.finish().writes.map(({ kind, object }) => [kind, object]), error?.message];
}

const at = (name: string) => ({ namespace: "ns", name });
const deletion = ["delete", at("source")];

test("the target's claim becomes the guest's before the source's is deleted", () => {
  const writes = moved(claim("source", ofVm), claim("target", ofMigration));
  expect(writes).toEqual([["patch", at("target")], deletion, undefined]);
});

test("a pass that was cut off in between is continued", () => {
  expect(moved(claim("source", ofVm), claim("target", ofVm))).toEqual([deletion, undefined]);
  expect(moved(claim("target", ofVm))).toEqual([undefined]);
});

test("the source's claim stays if the target's is missing or belongs to another VMI", () => {
  expect(moved(claim("source", ofVm))).toEqual([expect.stringContaining("does not exist")]);
  const foreign = claim("target", { [stateClaimLabel]: "other" });
  expect(moved(claim("source", ofVm), foreign)).toEqual([expect.stringContaining("does not")]);
});
