import { clusterConfig } from "@virtkit/api/config";
import { type Manifests, parseManifests } from "@virtkit/node-agent/manifests";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { validateDocuments } from "./validate-documents.ts";

const manifest = `apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {name: testvmi, labels: {a: &x b, c: *x}}
spec:
  terminationGracePeriodSeconds: 30
  domain:
    memory: {guest: 1Gi}
    devices:
      disks:
      - name: root
        disk: {bus: virtio}
  volumes:
  - name: root
    containerDisk: {image: "registry/image"}
`;

/** Pieces that have a meaning in YAML or in the schema. */
const pieces = [
  ..."\n\n\n  -:?,[]{}#&*!|>'\"%@`~0\t\r\0\u2028\ufeff",
  ..."a: |- |* a|&a |*a|? |: |---\n|...\n|<<: |!!str |!x |%YAML 1.1\n|\\x|.nan|0x1f|1e999".split(
    "|",
  ),
  ..."__proto__: |constructor: |toString: |kind: VirtualMachine\n|apiVersion: kubevirt.io/v1\n".split(
    "|",
  ),
  ..."spec: |domain: |devices: |guest: 1e99999999\n|items:\n|kind: List\n|apiVersion: v1\n".split(
    "|",
  ),
];

const soup = fc
  .array(fc.constantFrom(...pieces), { maxLength: 40 })
  .map((chosen) => chosen.join(""));

const noise = fc
  .uint8Array({ maxLength: 200 })
  .map((bytes) => new TextDecoder("utf-8").decode(bytes));

/** The manifest with a few parts replaced. */
const mutated = fc
  .array(
    fc.tuple(
      fc.nat(manifest.length),
      fc.nat(6),
      fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 4 })),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((edits) =>
    edits.reduce(
      (text, [at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut),
      manifest,
    ),
  );

const attack = fc.oneof({ weight: 2, arbitrary: mutated }, soup, noise);

const config = clusterConfig();

async function survives(text: string, read: (text: string) => Manifests): Promise<boolean> {
  const { documents, problems } = read(text);
  const options = { strict: true, schemaOnly: false, config };
  const { findings } = await validateDocuments(documents, options);
  const unbounded = [...problems, ...findings].some(
    ({ message, line, column }) => message.length > 1000 || line < 1 || column < 1,
  );
  return problems.length <= 100 && !unbounded && Object.keys(Object.prototype).length === 0;
}

test("any text gives a bounded list of faults, each with its place", async () => {
  const property = fc.asyncProperty(attack, (text) =>
    survives(text, (given) => parseManifests(given, "f")),
  );
  await fc.assert(property, { numRuns: 1500 });
});

test("control: the same attack finds a reader that trusts the YAML library with the values", async () => {
  const trusting = (text: string): Manifests => ({
    problems: [],
    documents: parseAllDocuments(text, { logLevel: "silent" }).map((document) => ({
      source: "f",
      value: document.toJS() as unknown,
      position: () => ({ line: 1, column: 1 }),
    })),
  });
  const property = fc.asyncProperty(attack, (text) => survives(text, trusting));
  expect((await fc.check(property, { numRuns: 5000 })).failed).toBe(true);
});
