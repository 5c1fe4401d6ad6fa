import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "../setup.mjs";

/** The other end of the channel, and the claim itself with its check of UIDs. */
const allowed = [
  "packages/domain-manager/src/manager/may-run.ts",
  "packages/launcher/src/channel/verbs.ts",
  "packages/node-agent/src/claims/run-claims.ts",
];

test("only a claim creates a proof that a guest may run, and only the launcher's channel passes it on", () => {
  const sources = readdirSync(path.join(root, "packages"))
    .map((name) => `packages/${name}/src`)
    .filter((folder) => existsSync(path.join(root, folder)));
  const files = sources.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$|(^|\/)testing\//.test(file))
      .map((file) => `${folder}/${file}`),
  );
  const callers = files.filter((file) =>
    readFileSync(path.join(root, file), "utf8").includes("MayRun.fromAgent("),
  );
  expect(callers.sort()).toEqual(allowed);
});
