import { expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

test("names the IOMMU file descriptor if there is one", () => {
  expect(domainWith().iommufd).toBeUndefined();
  const { iommufd } = domainWith({ context: { iommufdEnabled: true } });
  expect(iommufd).toEqual({ enabled: "yes", fdgroup: "iommu" });
});
