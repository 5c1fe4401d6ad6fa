import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "../setup.mjs";
import { operatorFiles } from "./operator-files.mjs";

test("the files that share the platform are listed, and only the last one removes it", () => {
  const folder = "examples/operator";
  const files = readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith(".nodes.test.ts"))
    .map((name) => `${folder}/${name}`);
  const has = (/** @type {string} */ file, /** @type {string} */ text) =>
    readFileSync(path.join(root, file), "utf8").includes(text);
  expect(files.filter((file) => has(file, "sharedOperator("))).toEqual(operatorFiles.toSorted());
  const removing = operatorFiles.filter((file) => has(file, "operator[Symbol.asyncDispose]()"));
  expect(removing).toEqual(operatorFiles.slice(-1));
});
