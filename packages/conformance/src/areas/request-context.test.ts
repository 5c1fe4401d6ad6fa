import { expect, test } from "vitest";
import { contextConfig, contextTime, namedObject } from "./request-context.ts";

const s390x = { cpuArch: "s390x", defaultArchitecture: "s390x" };

test.each([
  undefined,
  null,
  7,
  {},
  { kubevirt: null },
  { kubevirt: [] },
  { kubevirt: { configuration: 7 } },
  { kubevirt: { annotations: 7 } },
  { kubevirt: { annotations: { a: 7 } } },
  { kubevirt: { cpuArch: 7, defaultArchitecture: null } },
  { kubevirt: { configuration: { cpuRequest: "lots" }, annotations: [null] } },
])("%j has the default configuration", (context) => {
  expect(contextConfig(context).machineType("amd64")).toBe("q35");
  expect(contextConfig(context).defaultArchitecture).toBe("amd64");
});

test("a context has its configuration in kubevirt, or bare", () => {
  const configuration = { machineType: "pc-q35-9" };
  const types = [{ kubevirt: { configuration } }, { configuration }].map((context) =>
    contextConfig(context).machineType("amd64"),
  );
  expect(types).toEqual(["pc-q35-9", "pc-q35-9"]);
});

test("a configuration that KubeVirt would refuse keeps architecture and annotations", () => {
  const annotations = { "kubevirt.io/vga-display-efi-x86": "", odd: 7 };
  const configuration = { cpuRequest: "lots" };
  const config = contextConfig({ kubevirt: { ...s390x, configuration, annotations } });
  expect([config.defaultArchitecture, config.vgaDisplayForEfiGuests]).toEqual(["s390x", true]);
});

test("finds an object by name in a list with arbitrary content", () => {
  const wanted = { metadata: { name: "a", namespace: "ns" } };
  const find = (pods: unknown): unknown =>
    namedObject({ objects: { pods } } as never, "pods", { namespace: "ns", name: "a" });
  expect(find([null, 7, {}, { metadata: null }, wanted])).toBe(wanted);
  expect([find(7), find({}), find(null)]).toEqual([undefined, undefined, undefined]);
});

test("refuses an invalid clock", () => {
  expect(contextTime({})).toBeUndefined();
  expect(contextTime({ now: "1970-01-01T00:00:01Z" })).toBe(1000);
  for (const now of ["soon", 7, {}]) {
    expect(() => contextTime({ now })).toThrow(expect.objectContaining({ path: "context.now" }));
  }
});
