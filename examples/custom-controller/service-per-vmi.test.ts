import { expect, test } from "vitest";
import { annotation, serviceFor } from "./service-per-vmi.mjs";

const vmi = (annotations: Record<string, string>, more = {}) => ({
  metadata: { name: "demo", namespace: "default", uid: "1", annotations, ...more },
});

test("a VMI gets the Service that it requests", () => {
  expect(serviceFor(vmi({ [annotation]: "22,80" }))).toEqual({
    metadata: {
      name: "demo",
      namespace: "default",
      ownerReferences: [
        {
          apiVersion: "kubevirt.io/v1",
          kind: "VirtualMachineInstance",
          name: "demo",
          uid: "1",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      selector: { "kubevirt.io/created-by": "1" },
      ports: [
        { name: "port-22", port: 22 },
        { name: "port-80", port: 80 },
      ],
    },
  });
});

test("a VMI that does not request one, or is being deleted, gets none", () => {
  expect(serviceFor(vmi({}))).toBeUndefined();
  const going = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  expect(serviceFor(vmi({ [annotation]: "22" }, going))).toBeUndefined();
});

test.each(["", "ssh", "22,,80", "0", "65536", "1.5"])("refuses ports %j permanently", (value) => {
  expect(() => serviceFor(vmi({ [annotation]: value }))).toThrow(
    expect.objectContaining({ code: "KUBE_TERMINAL" }),
  );
});
