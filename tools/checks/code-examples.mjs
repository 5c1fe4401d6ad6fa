import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { workspaceMembers } from "./workspace-members.mjs";

/**
 * @typedef {object} CodeExample
 * @property {string} where the file and line, for people
 * @property {string} code
 * @property {string} [own] the package whose exports it may use without importing them
 * @property {boolean} runs whether it can be run as it is
 */

/** The examples in the README of the project, its guides and each published package. @param {string} root @returns {CodeExample[]} */
export function writtenExamples(root) {
  const published = workspaceMembers(root).filter((member) => member.published);
  const files = ["README.md", ...published.map(({ folder }) => `${folder}/README.md`)];
  return [...files, ...guides(root)].flatMap((file) =>
    fencedExamples(file, readFileSync(path.join(root, file), "utf8")),
  );
}

/** @param {string} root */
function guides(root) {
  const folder = "docs/guides";
  return readdirSync(path.join(root, folder)).map((name) => `${folder}/${name}`);
}

/**
 * The blocks of JavaScript and TypeScript in a Markdown text. A block that is marked `no-run` needs something that a
 * consumer does not have, such as a cluster, and is only compiled.
 * @param {string} file
 * @param {string} text
 * @returns {CodeExample[]}
 */
export function fencedExamples(file, text) {
  return [...text.matchAll(/^```(?:js|ts)( no-run)?\n(.*?)^```$/gms)].map((match) => ({
    where: `${file}:${lineAt(text, match.index)}`,
    code: match[2] ?? "",
    runs: match[1] === undefined,
  }));
}

/** Every `@example` in the sources of the published packages. @param {string} root @returns {CodeExample[]} */
export function commentExamples(root) {
  return workspaceMembers(root)
    .filter((member) => member.published)
    .flatMap(({ folder, name }) =>
      sources(path.join(root, folder, "src")).flatMap((file) =>
        taggedExamples(path.relative(root, file), readFileSync(file, "utf8")).map((example) => ({
          ...example,
          own: name,
        })),
      ),
    );
}

/** @param {string} file @param {string} text @returns {CodeExample[]} */
export function taggedExamples(file, text) {
  return [...text.matchAll(/^ *\* @example.*\n((?: *\*(?!\/| @).*\n)*)/gm)].map((match) => {
    const body = (match[1] ?? "").replaceAll(/^ *\* ?/gm, "");
    const fenced = /^```(?:js|ts)\n(.*?)^```/ms.exec(body);
    return {
      where: `${file}:${lineAt(text, match.index)}`,
      code: fenced?.[1] ?? body,
      runs: false,
    };
  });
}

/** @param {string} folder @returns {string[]} */
function sources(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => path.join(folder, file))
    .sort();
}

/** @param {string} text @param {number} index */
function lineAt(text, index) {
  return text.slice(0, index).split("\n").length;
}
