import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** @param {string[]} args */
async function kubectl(...args) {
  const kubeconfig = process.env["VIRTKIT_APISERVER_KUBECONFIG"] ?? "";
  const command = process.env["VIRTKIT_KUBECTL"] ?? "kubectl";
  const all = ["--kubeconfig", kubeconfig, "--request-timeout=20s", ...args];
  return (await promisify(execFile)(command, all)).stdout;
}

test("the API server of the cluster tier is ready", async () => {
  expect(await kubectl("get", "--raw", "/readyz")).toBe("ok");
});

test("the API server has the pinned release", async () => {
  const { minor } = JSON.parse(await kubectl("get", "--raw", "/version"));
  expect(minor).toBe("36");
});

test("a created namespace exists", async () => {
  await kubectl("create", "namespace", "virtkit-smoke");
  expect(await kubectl("get", "namespace", "virtkit-smoke", "-o", "name")).toBe(
    "namespace/virtkit-smoke\n",
  );
});
