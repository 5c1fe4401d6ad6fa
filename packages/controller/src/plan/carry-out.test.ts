import { KubeError } from "@virtkit/kube";
import { expect, test } from "vitest";
import { carryOut, type PlanTarget } from "./carry-out.ts";
import type { Plan, PlannedWrite } from "./plan.ts";
import { PlanDraft } from "./plan-draft.ts";
import { podResource } from "./resources.ts";
import type { WriteOutcome } from "./write-outcome.ts";

const remove = (name: string): PlannedWrite => ({
  kind: "delete",
  resource: podResource,
  object: { namespace: "ns", name },
  uid: `uid-${name}`,
});

const create = (name: string): PlannedWrite => ({
  kind: "create",
  resource: podResource,
  object: { metadata: { namespace: "ns", name } },
});

function nameOf(write: PlannedWrite): string {
  return write.kind === "create" ? String(write.object.metadata.name) : write.object.name;
}

/** A server that refuses the writes to some names. */
function refusing(errors: Readonly<Record<string, Error>>): PlanTarget & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    write: async (write) => {
      const name = nameOf(write);
      asked.push(name);
      if (errors[name]) throw errors[name];
      return undefined;
    },
  };
}

const status = (reason: string, code: number) =>
  new KubeError("KUBE_STATUS", `it says ${reason}`, { status: code, reason });

/** Replaces a Pod. If the old one cannot be deleted, there is no new one. */
function replace(outcomes: readonly WriteOutcome[]): Plan {
  const draft = new PlanDraft(outcomes);
  const refusal = draft.write(remove("old"));
  if (refusal) {
    draft.event({ type: "Warning", reason: "FailedDelete", message: refusal.message });
    return draft.finish({ kind: "sync", reason: "FailedDelete", message: refusal.message });
  }
  draft.write(create("new"));
  draft.event({ type: "Normal", reason: "Replaced", message: "done" });
  return draft.finish();
}

test("carries out writes in order and makes the plan once", async () => {
  const target = refusing({});
  let made = 0;
  const plan = await carryOut((outcomes) => {
    made++;
    return replace(outcomes);
  }, target);
  expect(target.asked).toEqual(["old", "new"]);
  expect(plan.events.map(({ reason }) => reason)).toEqual(["Replaced"]);
  expect(made).toBe(1);
});

test("makes the plan again after a refusal and does not repeat what was done", async () => {
  const target = refusing({ old: status("InternalError", 500) });
  const plan = await carryOut(replace, target);
  expect(target.asked).toEqual(["old"]);
  expect(plan.error).toMatchObject({ kind: "sync", reason: "FailedDelete" });
  expect(plan.events.map(({ reason }) => reason)).toEqual(["FailedDelete"]);
});

test("counts the deletion of a missing object as done", async () => {
  const target = refusing({ old: status("NotFound", 404) });
  expect((await carryOut(replace, target)).error).toBeUndefined();
  expect(target.asked).toEqual(["old", "new"]);
});

test("treats a missing answer as a refusal, because the write may or may not have happened", async () => {
  const target = refusing({ old: new KubeError("KUBE_TIMEOUT", "no answer") });
  expect((await carryOut(replace, target)).error).toMatchObject({ reason: "FailedDelete" });
});

test("does not treat a programming error as a refusal", async () => {
  const target = refusing({ old: new TypeError("oops") });
  await expect(carryOut(replace, target)).rejects.toThrow("oops");
});

test("stops when the pass is aborted", async () => {
  const controller = new AbortController();
  const target: PlanTarget = {
    write: async () => {
      controller.abort(new Error("stop"));
      throw new KubeError("KUBE_ABORTED", "aborted");
    },
  };
  await expect(carryOut(replace, target, { signal: controller.signal })).rejects.toThrow("stop");
});
