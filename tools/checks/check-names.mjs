import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { workspaceMembers } from "./workspace-members.mjs";

/** KubeVirt's domain, also in a regular expression, and its directories. */
const kubevirtName = /kubevirt\\?\.io|\/run\/kubevirt/;

/**
 * Where KubeVirt's names are data rather than names of the platform. A path that ends in `/` stands for
 * everything below it.
 */
const allowed = new Map([
  ["packages/api/src/names/", "their home"],
  ["packages/conformance/src/", "recorded answers of KubeVirt use its names"],
  ["packages/lab/src/", "creates the sandboxes of tests"],
  ["packages/api/src/status/data-volume-plan.ts", "the API group of CDI, another project"],
  ["packages/controller/src/vmi/cdi-names.ts", "labels and annotations of CDI, another project"],
  ["packages/converter/src/start-draft.ts", "the XML namespace that existing domains have"],
]);

/**
 * Annotations, labels, API groups and directories come from `api/names`, so that a platform can have its own:
 * no other source contains KubeVirt's. Comments and tests may, and so may the files in {@link allowed}.
 * @param {string} root
 * @returns {Promise<import("./checks.mjs").Verdict>}
 */
export async function checkNames(root) {
  const unused = new Set([...allowed.keys()].filter((place) => existsSync(path.join(root, place))));
  const found = [];
  for (const file of sourceFiles(root)) {
    const lines = readFileSync(path.join(root, file), "utf8").split("\n");
    const spelt = lines.flatMap((line, at) => (spellsName(line) ? [at + 1] : []));
    if (spelt.length === 0) continue;
    const place = [...allowed.keys()].find((known) => file === known || isBelow(file, known));
    if (place) unused.delete(place);
    else found.push(...spelt.map((line) => `${file}:${line}: take this name from api/names`));
  }
  const stale = [...unused].map(
    (place) => `check-names.mjs: ${place} no longer needs an exception; remove it`,
  );
  const output = [...found, ...stale].join("\n");
  return { ok: output === "", output };
}

/** @param {string} line */
function spellsName(line) {
  const isComment = /^\s*(\*|\/\*|\/\/)/.test(line);
  return !isComment && kubevirtName.test(line);
}

/** @param {string} file @param {string} place */
function isBelow(file, place) {
  return place.endsWith("/") && file.startsWith(place);
}

/** The sources of the packages, without tests. @param {string} root */
function sourceFiles(root) {
  return workspaceMembers(root)
    .filter(({ folder }) => folder.startsWith("packages/"))
    .flatMap(({ folder }) => [`${folder}/src`, `${folder}/bin`])
    .filter((folder) => existsSync(path.join(root, folder)))
    .flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" }).map(
        (file) => `${folder}/${file}`,
      ),
    )
    .filter((file) => /\.(ts|js|mjs)$/.test(file))
    .filter((file) => !/\.test\.\w+$|\/src\/(?:.*\/)?testing\//.test(file));
}
