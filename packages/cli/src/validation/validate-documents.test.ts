import { clusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { parseManifests } from "@virtkit/node-agent/manifests";
import { expect, test } from "vitest";
import type { Checker } from "./checker.ts";
import { checkers } from "./checkers.ts";
import { validateDocuments } from "./validate-documents.ts";

const { documents } = parseManifests(
  "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nspec:\n  domain:\n    devices: {}\n",
  "f",
);
const options = { strict: false, schemaOnly: false, config: clusterConfig() };

const finding = (name: string, kinds?: readonly string[]): Checker => ({
  name,
  ...(kinds && { kinds }),
  load: () =>
    Promise.resolve({
      check: () => [{ code: name, path: ["spec", "domain"], message: `${name} does not like it` }],
    }),
});

test("a checker is a line in a table: it runs after the schema, and its faults get places", async () => {
  const added = [...checkers, finding("admission")];
  expect(await validateDocuments(documents, { ...options, checkers: added })).toMatchObject({
    findings: [{ source: "f", line: 4, column: 3, code: "admission", path: "spec.domain" }],
  });
});

test("a checker sees only its kinds, and does not report a field that is already at fault", async () => {
  const codes = async (all: readonly Checker[]): Promise<string[]> =>
    (await validateDocuments(documents, { ...options, checkers: all })).findings.map(
      ({ code }) => code,
    );
  expect(await codes([finding("first"), finding("second")])).toEqual(["first"]);
  expect(await codes([finding("first", ["KubeVirt"]), finding("second")])).toEqual(["second"]);
});

test("a checker that stopped at a fault runs again once that is fixed", async () => {
  const closed: Checker = {
    name: "closed",
    load: () =>
      Promise.resolve({
        check: (object) =>
          (object as VirtualMachineInstance).spec.architecture === "sparc"
            ? [{ code: "closed", path: ["spec", "architecture"], message: "no", last: true }]
            : [{ code: "closed", path: ["spec", "domain"], message: "neither" }],
      }),
  };
  const [document] = documents;
  const value = { ...Object(document?.value), spec: { architecture: "sparc" } };
  const changed = documents.map((each) => ({ ...each, value }));
  const { findings } = await validateDocuments(changed, { ...options, checkers: [closed] });
  expect(findings.map(({ message }) => message)).toEqual(["no", "neither"]);
});

test("schema-only mode leaves out all but the first", async () => {
  const added = [...checkers, finding("admission")];
  const { findings } = await validateDocuments(documents, {
    ...options,
    schemaOnly: true,
    checkers: added,
  });
  expect(findings).toEqual([]);
});
