import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { at } from "@virtkit/api/shape";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { runVirtkit } from "../testing/run-virtkit.ts";

const folder = fileURLToPath(new URL("../../../../examples/manifests/", import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));

/** What a reader of the Pod looks for first, by manifest. */
const expected: Readonly<Record<string, (pod: unknown) => unknown>> = {
  "cloud-image.yaml": (pod) => at(pod, "metadata", "labels", "app"),
  "cluster-instancetype.yaml": (pod) => limits(pod)["hugepages-1Gi"],
  "gpu.yaml": (pod) => limits(pod)["nvidia.com/GA100_A100_PCIE_40GB"],
  "huge-pages.yaml": (pod) => limits(pod)["hugepages-2Mi"],
  "several-networks.yaml": (pod) =>
    JSON.parse(String(at(pod, "metadata", "annotations", "k8s.v1.cni.cncf.io/networks"))).length,
};
const answers: Readonly<Record<string, unknown>> = {
  "cloud-image.yaml": "web",
  "cluster-instancetype.yaml": "8Gi",
  "gpu.yaml": "1",
  "huge-pages.yaml": "512Mi",
  "several-networks.yaml": 2,
};

function limits(pod: unknown): Readonly<Record<string, unknown>> {
  const [compute] = at(pod, "spec", "containers") as readonly unknown[];
  return at(compute, "resources", "limits") as Readonly<Record<string, unknown>>;
}

test("there are manifests of a dozen kinds", () => {
  expect(files.length).toBeGreaterThanOrEqual(12);
});

test.each(files)("%s is admitted, and becomes a launcher Pod", async (file) => {
  const text = readFileSync(`${folder}${file}`, "utf8");
  const { code, out, err } = await runVirtkit(["validate", "-f", "-"], text);
  expect(err, out).toMatch(/ checked, all valid/);
  expect(code).toBe(0);
  // A replica set is a template for VMIs, and no command renders what others make from it.
  if (file === "replica-set.yaml") return;
  const rendered = await runVirtkit(["pod", "-f", "-"], withClaims(text));
  expect({ code: rendered.code, err: rendered.err }).toEqual({ code: 0, err: "" });
  const [pod] = parseAllDocuments(rendered.out).map((document) => document.toJS() as unknown);
  expect(at(pod, "kind")).toBe("Pod");
  const look = expected[file];
  if (look) expect(look(pod)).toEqual(answers[file]);
});

/** With what is not in the manifest but a Pod depends on: claims, and networks of others. */
function withClaims(text: string): string {
  const claims = [
    ...text.matchAll(/claimName: (\S+)/g),
    ...text.matchAll(/ {10}name: (\S+-root)$/gm),
  ];
  // What the controllers create for a guest with persistent state.
  const state = /name: bitlocker/.test(text) ? ["persistent-state-for-bitlocker"] : [];
  const networks = [...text.matchAll(/networkName: (?:(\S+)\/)?(\S+)/g)];
  const all = [
    ...[...claims.map(([, name]) => name), ...state].map((name) => ({
      ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name } },
      spec: { volumeMode: "Filesystem" },
    })),
    ...networks.map(([, namespace = "default", name]) => ({
      apiVersion: "k8s.cni.cncf.io/v1",
      kind: "NetworkAttachmentDefinition",
      metadata: { name, namespace },
      spec: { config: "{}" },
    })),
  ];
  return [text, ...all.map((object) => JSON.stringify(object))].join("\n---\n");
}
