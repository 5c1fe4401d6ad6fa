import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../setup.mjs";
import { fencedExamples } from "./code-examples.mjs";
import { workspaceMembers } from "./workspace-members.mjs";

const members = workspaceMembers(root);
const published = members.filter((member) => member.published);

/** @param {string} folder */
function manifestOf(folder) {
  return JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));
}

describe.each(published)("$name", ({ folder, name }) => {
  const manifest = manifestOf(folder);
  const readme = readFileSync(path.join(root, folder, "README.md"), "utf8");

  test("says where it comes from and what it is for", () => {
    const { repository, homepage, bugs, keywords, description, sideEffects, files } = manifest;
    expect(repository).toMatchObject({ type: "git", directory: folder });
    expect(homepage).toContain(folder);
    expect(bugs).toMatch(/^https:/);
    expect(description).toBeTruthy();
    expect(keywords.length).toBeGreaterThan(2);
    expect(sideEffects).toBeDefined();
    // npm adds the README and the licence by itself, but not this file.
    expect(files).toContain("CHANGELOG.md");
  });

  test("has a README with how to install it, and an example that runs", () => {
    expect(readme).toMatch(new RegExp(`^npm install .*${name}$`, "m"));
    const runs = fencedExamples("README.md", readme).some((example) => example.runs);
    // The command has a transcript in place of code.
    expect(runs || readme.includes("```console")).toBe(true);
  });

  test("links only to files that exist", () => {
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = ""]) => link);
    const dead = links.filter((link) => !existsSync(path.join(root, folder, link)));
    expect(dead).toEqual([]);
  });
});

test.each(members)("$name refers to other packages of the workspace in one way", ({ folder }) => {
  const { dependencies, devDependencies, optionalDependencies } = manifestOf(folder);
  const ranges = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter(([name]) => name.startsWith("@virtkit/"))
    .map(([, range]) => range);
  expect(ranges.filter((range) => range !== "workspace:^")).toEqual([]);
});
