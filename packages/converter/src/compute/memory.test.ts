import { describe, expect, test } from "vitest";
import { domainWith, errorPath } from "../testing/conversion.ts";

describe("memory", () => {
  test.each([
    [{ memory: { guest: "64Mi" }, resources: { requests: { memory: "1Gi" } } }, 67108864],
    [
      { memory: {}, resources: { requests: { memory: "1Gi" }, limits: { memory: "2Gi" } } },
      1073741824,
    ],
    [{ memory: {}, resources: { limits: { memory: "2Gi" } } }, 2147483648],
    [{ memory: {} }, 0],
  ])("of %j is %d bytes", (domain, value) => {
    expect(domainWith({ domain }).memory).toEqual({ unit: "b", value });
  });

  test("can grow if a larger maximum is set", () => {
    const domain = domainWith({ domain: { memory: { guest: "1Gi", maxGuest: "4Gi" } } });
    expect(domain.maxMemory).toEqual({ slots: 0, unit: "b", value: 4294967296 });
  });

  test("has no maximum equal to its size, however written", () => {
    const memory = { guest: "1Gi", maxGuest: "1024Mi" };
    expect(domainWith({ domain: { memory } }).maxMemory).toBeUndefined();
  });

  test("fails with a maximum alone, where KubeVirt crashes", () => {
    expect(errorPath({ domain: { memory: { maxGuest: "1Gi" } } })).toBe("spec.domain.memory.guest");
  });

  test("fails if it is negative or not a quantity", () => {
    expect(errorPath({ domain: { memory: { guest: "-1" } } })).toBe("spec.domain.memory.guest");
    expect(errorPath({ domain: { memory: { guest: "lots" } } })).toBe("spec.domain.memory.guest");
  });
});
