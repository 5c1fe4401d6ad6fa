import { expect, test } from "vitest";
import { convert } from "../convert.ts";
import { domainWith, smallContext, smallVmi } from "../testing/conversion.ts";

test("the domain is named after namespace and name; the launcher fills in the uid", () => {
  const { name, metadata } = domainWith();
  expect(name).toBe("ns_vm");
  expect(metadata.kubevirt).toMatchObject({ xmlns: "http://kubevirt.io", uid: "" });
});

test.each([{}, { name: null, namespace: null }])("%j makes an empty namespace and name", (none) => {
  const metadata = none as { name?: string; namespace?: string };
  expect(convert({ ...smallVmi(), metadata }, smallContext()).name).toBe("_");
});
