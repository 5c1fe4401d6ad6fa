import { spawn } from "node:child_process";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "./setup.mjs";

test("npm run cluster opens a shell with kubectl for its own cluster", async () => {
  const program = path.join(root, "tools/cluster.mjs");
  const shell = spawn(process.execPath, [program, "--nodes", "1"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  shell.stdin.end("kubectl get nodes -o name && kubectl version -o json\n");
  let said = "";
  shell.stdout.on("data", (chunk) => {
    said += chunk;
  });
  const code = await new Promise((resolve) => shell.once("close", resolve));
  expect(code).toBe(0);
  expect(said).toMatch(/^node\/node-1\n/);
  const { clientVersion, serverVersion } = JSON.parse(said.slice(said.indexOf("{")));
  expect(clientVersion.gitVersion).toBe(serverVersion.gitVersion);
});
