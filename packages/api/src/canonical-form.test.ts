import { expect, test } from "vitest";
import { canonicalForm, sameMeaning } from "./canonical-form.ts";
import { VirtualMachineInstanceSpecSchema as schema } from "./schema/index.ts";

const same = (a: unknown, b: unknown): boolean =>
  sameMeaning(
    { domain: { devices: {} }, ...(a as object) },
    { domain: { devices: {} }, ...(b as object) },
    schema,
  );
const domain = (fields: object) => ({ domain: { devices: {}, ...fields } });
const device = (fields: object) => ({ domain: { devices: fields } });

test.each([
  ["no field and null", {}, { nodeSelector: null }],
  ["no list and an empty one", {}, { volumes: [] }],
  ["no map and an empty one", {}, { nodeSelector: {} }],
  ["no string and an empty one", {}, { hostname: "" }],
  [
    "spellings of a quantity",
    domain({ memory: { guest: "1024Mi" } }),
    domain({ memory: { guest: "1Gi" } }),
  ],
  [
    "a count of zero",
    domain({ cpu: {} }),
    domain({ cpu: { cores: 0, dedicatedCpuPlacement: false } }),
  ],
  ["the order of fields", { hostname: "a", subdomain: "b" }, { subdomain: "b", hostname: "a" }],
  ["an unknown field", {}, { "no-such-field": 1 }],
  [
    "a disk that is writable",
    device({ disks: [{ name: "d", disk: {} }] }),
    device({ disks: [{ name: "d", disk: { readonly: false } }] }),
  ],
])("%s mean the same", (_, a, b) => {
  expect(same(a, b)).toBe(true);
});

test.each([
  ["no device and an empty one", {}, device({ rng: {} })],
  ["no grace period and one of zero", {}, { terminationGracePeriodSeconds: 0 }],
  ["no value and false", {}, device({ autoattachPodInterface: false })],
  [
    "a CD-ROM that is writable",
    device({ disks: [{ name: "d", cdrom: {} }] }),
    device({ disks: [{ name: "d", cdrom: { readonly: false } }] }),
  ],
  [
    "the order of a list",
    { volumes: [{ name: "a" }, { name: "b" }] },
    { volumes: [{ name: "b" }, { name: "a" }] },
  ],
])("%s differ", (_, a, b) => {
  expect(same(a, b)).toBe(false);
});

test("leaves values that do not match the schema unchanged", () => {
  expect(canonicalForm({ domain: 7, volumes: "x" }, schema)).toEqual({ domain: 7, volumes: "x" });
  expect(canonicalForm(null, schema)).toBeUndefined();
  expect(canonicalForm("text", schema)).toBe("text");
});
