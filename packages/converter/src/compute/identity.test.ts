import { expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

test("the domain is called by namespace and name; the uid is for the launcher to fill in", () => {
  const { name, metadata } = domainWith();
  expect(name).toBe("ns_vm");
  expect(metadata.kubevirt).toMatchObject({ xmlns: "http://kubevirt.io", uid: "" });
});
