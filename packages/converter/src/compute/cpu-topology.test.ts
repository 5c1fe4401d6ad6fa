import { describe, expect, test } from "vitest";
import { requestedTopology, statedVcpus, vcpusOf } from "./cpu-topology.ts";

describe("requestedTopology", () => {
  test("fills in missing parts of a topology with one", () => {
    const topology = requestedTopology({ cpu: { cores: 4 }, devices: {} });
    expect(topology).toEqual({ sockets: 1, cores: 4, threads: 1 });
  });

  test.each([
    [{ limits: { cpu: "3" }, requests: { cpu: "2" } }, 3],
    [{ requests: { cpu: "2500m" } }, 3],
    [{}, 1],
  ])("turns the resources %j into sockets", (resources, sockets) => {
    expect(requestedTopology({ resources, devices: {} }).sockets).toBe(sockets);
  });
});

test("vcpusOf wraps at 32 bits", () => {
  expect(vcpusOf({ sockets: 2, cores: 3, threads: 4 })).toBe(24);
  expect(vcpusOf({ sockets: 65536, cores: 65536, threads: 1 })).toBe(0);
});

test("statedVcpus multiplies the given parts, and is 0 without any", () => {
  expect(statedVcpus({ sockets: 2, threads: 2 })).toBe(4);
  expect(statedVcpus({})).toBe(0);
});
