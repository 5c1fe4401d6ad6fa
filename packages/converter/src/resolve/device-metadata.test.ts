import { describe, expect, test } from "vitest";
import { claimedDevice } from "./device-metadata.ts";

const claims = [
  { name: "c", resourceClaimName: "claim" },
  { name: "t", resourceClaimTemplateName: "template" },
];
const base = "var/run/kubernetes.io/dra-device-attributes";

function document(attributes: object, apiVersion = "metadata.resource.k8s.io/v1alpha1"): string {
  return JSON.stringify({ apiVersion, requests: [{ name: "r", devices: [{ attributes }] }] });
}

function read(files: Record<string, string>, claim = "c"): unknown {
  return claimedDevice(files, claims, claim, "r", "spec.x");
}

const file = `${base}/resourceclaims/claim/r/driver-metadata.json`;
const pci = { "resource.kubernetes.io/pciBusID": { string: "0000:81:00.0" } };

describe("claimedDevice", () => {
  test("finds the address of a PCI device, and the UUID of a mediated one", () => {
    expect(read({ [file]: document(pci) })).toEqual({ pciAddress: "0000:81:00.0" });
    expect(read({ [file]: document({ ...pci, mdevUUID: { string: "u" } }) })).toEqual({
      uuid: "u",
      pciAddress: "0000:81:00.0",
    });
    expect(read({ [file]: document({ mdevUUID: { string: "" } }) })).toEqual({});
  });

  test("finds that of a template by the name in the Pod", () => {
    const path = `${base}/resourceclaimtemplates/t/r/driver-metadata.json`;
    expect(read({ [path]: document(pci) }, "t")).toEqual({ pciAddress: "0000:81:00.0" });
  });

  test("skips unknown versions", () => {
    expect(read({ [file]: `${document({}, "x/v9")}\n${document(pci)}` })).toEqual({
      pciAddress: "0000:81:00.0",
    });
  });

  test("does not read on after the known version", () => {
    expect(read({ [file]: `${document(pci)}{` })).toEqual({ pciAddress: "0000:81:00.0" });
  });

  test.each([
    ["no file", {}],
    ["no version", { [file]: `{}${document(pci)}` }],
    ["two drivers", { [file]: document(pci), [file.replace("driver", "other")]: document(pci) }],
    ["invalid JSON", { [file]: "{" }],
    ["an unknown version", { [file]: document(pci, "x/v9") }],
    [
      "no such request",
      { [file]: '{"apiVersion":"metadata.resource.k8s.io/v1alpha1","requests":[]}' },
    ],
  ])("fails with %s", (_what, files) => {
    expect(() => read(files)).toThrow(expect.objectContaining({ path: "hostFiles" }));
  });

  test("fails for a claim that the VMI does not have", () => {
    expect(() => read({}, "nope")).toThrow(/no such claim/);
  });
});
