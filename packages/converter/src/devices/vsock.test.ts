import { describe, expect, test } from "vitest";
import { domainWith } from "../testing/conversion.ts";

describe("vsock", () => {
  test("has the address from the status, if any", () => {
    expect(domainWith().devices.vsock).toBeUndefined();
    expect(domainWith({ status: { VSOCKCID: 42 } }).devices.vsock).toEqual({
      model: "virtio-non-transitional",
      cid: { auto: "no", address: 42 },
    });
  });
});
