import { expect, test } from "vitest";
import { encodeGrant, freeGrant } from "../grant/index.ts";
import { names } from "../names/index.ts";
import { cluster, instance } from "../testing/verdict.ts";
import { restoredGrant, withCreationMarks } from "./creation-marks.ts";
import { mutate } from "./mutate.ts";

const key = "virtkit.io/run-grant";
const claimed = JSON.stringify({ version: 1, state: "Claimed" });

test("a new VMI is Free, whatever was sent, and has the finalizer of its kind once", () => {
  const sent = {
    annotations: { [key]: claimed, a: "1" },
    finalizers: ["mine", names().finalizers.vmi],
  };
  expect(withCreationMarks("VirtualMachineInstance", sent, names())).toEqual({
    annotations: {
      a: "1",
      [key]: encodeGrant(freeGrant),
      [names().annotations.latestObservedApiVersion]: "v1",
      [names().annotations.storageObservedApiVersion]: "v1",
    },
    finalizers: ["mine", names().finalizers.vmi],
  });
});

test("a VM and a migration have no grant", () => {
  for (const kind of ["VirtualMachine", "VirtualMachineInstanceMigration"] as const) {
    const { annotations } = withCreationMarks(kind, {} as { annotations?: object }, names());
    expect(annotations).not.toHaveProperty([key]);
  }
});

test.each([
  [
    "changed",
    { [key]: "x" },
    [{ op: "add", path: "/metadata/annotations/virtkit.io~1run-grant", value: claimed }],
  ],
  [
    "taken away",
    {},
    [{ op: "add", path: "/metadata/annotations/virtkit.io~1run-grant", value: claimed }],
  ],
  ["left alone", { [key]: claimed }, []],
  [
    "lost with all annotations",
    undefined,
    [{ op: "add", path: "/metadata/annotations", value: { [key]: claimed } }],
  ],
])("restores a grant that is %s", (_, annotations, patch) => {
  const old = { metadata: { annotations: { [key]: claimed } } };
  expect(restoredGrant({ metadata: { annotations } }, old, names())).toEqual(patch);
});

test("does not let anybody add a grant to a VMI without one", () => {
  const sent = { metadata: { annotations: { [key]: claimed } } };
  expect(restoredGrant(sent, { metadata: {} }, names())).toEqual([
    { op: "remove", path: "/metadata/annotations/virtkit.io~1run-grant" },
  ]);
});

test("the webhook marks new objects, restores what others change, and lets our components write", () => {
  const update = (annotations: object, username: string) =>
    mutate(
      {
        kind: "VirtualMachineInstance",
        operation: "UPDATE",
        object: instance({}, { metadata: { annotations } }),
        oldObject: instance({}, { metadata: { annotations: { [key]: claimed } } }),
        username,
      },
      cluster(),
      { marks: true },
    );
  expect(update({ [key]: "forged" }, "eve")).toMatchObject({ patch: [{ value: claimed }] });
  const controller = "system:serviceaccount:kubevirt:kubevirt-controller";
  expect(update({ [key]: "next" }, controller)).toMatchObject({ patch: [] });
  const created = mutate(
    { kind: "VirtualMachineInstance", operation: "CREATE", object: instance(), username: "eve" },
    cluster(),
    { marks: true },
  );
  expect(created).toMatchObject({
    object: { metadata: { annotations: { [key]: encodeGrant(freeGrant) } } },
  });
});
