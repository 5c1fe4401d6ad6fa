import { names } from "@virtkit/api/names";
import type { KubeObject } from "@virtkit/kube";
import { expect, test } from "vitest";
import type { PlannedWrite } from "../plan/plan.ts";
import { vmResources } from "../plan/vm-resources.ts";
import { OwnStatuses } from "./own-statuses.ts";

const name = { namespace: "ns", name: "vm" };
const { vms } = vmResources(names());
const write: PlannedWrite = { kind: "patch", resource: vms, object: name, operations: [] };
const running = { metadata: {}, status: { printableStatus: "Running" } } as KubeObject;
const starting = { metadata: {}, status: { printableStatus: "Starting" } } as KubeObject;

test("notices that somebody else has overwritten this process's status", async () => {
  const statuses = new OwnStatuses();
  const target = statuses.noting(name, { write: async () => running });
  expect(statuses.isOverwritten(name, starting)).toBe(false);
  await target.write({ ...write, subresource: "status" });
  expect(statuses.isOverwritten(name, running)).toBe(false);
  expect(statuses.isOverwritten(name, starting)).toBe(true);
  expect(statuses.isOverwritten({ ...name, name: "other" }, starting)).toBe(false);
  statuses.forget(name);
  expect(statuses.isOverwritten(name, starting)).toBe(false);
});

test("ignores writes to the spec", async () => {
  const statuses = new OwnStatuses();
  await statuses.noting(name, { write: async () => running }).write(write);
  expect(statuses.isOverwritten(name, starting)).toBe(false);
});
