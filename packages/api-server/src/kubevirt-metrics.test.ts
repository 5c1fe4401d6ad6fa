import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

test("every metric of KubeVirt's virt-api is listed in the README with the reason why it is not served", () => {
  const { components } = JSON.parse(textOf("../../conformance/cases/metrics.json")) as {
    components: { "virt-api": { name: string }[] };
  };
  const rows = textOf("../README.md").matchAll(/^\| `(kubevirt_\w+)` \| \S/gm);
  const listed = [...rows].map(([, name]) => name);
  const theirs = components["virt-api"].map(({ name }) => name);
  expect(listed.toSorted()).toEqual(theirs.toSorted());
});
