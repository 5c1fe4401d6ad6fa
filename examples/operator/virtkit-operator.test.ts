import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";

const root = path.join(import.meta.dirname, "../..");
const program = "examples/operator/virtkit-operator.mjs";

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly said: string;
}

/** Runs a line of bash in the directory of the repository; a pipe fails with its first command. */
async function bash(line: string, env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const child = spawn("bash", ["-o", "pipefail", "-c", line], {
    ...{ cwd: root, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] },
  });
  let [out, said] = ["", ""];
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  return await new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, out, said }));
  });
}

/** The path of a kubeconfig for a server, which is stopped when the test has finished. */
function kubeconfigFor(server: Server): string {
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(path.join(tmpdir(), "virtkit-operator-"));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  const kubeconfig = path.join(folder, "config");
  const cluster = { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true };
  const config = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "here" },
    clusters: [{ name: "here", cluster }],
    users: [{ name: "me", user: { token: "none" } }],
    contexts: [{ name: "here", context: { cluster: "here", user: "me" } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return kubeconfig;
}

/** A kubeconfig for an API server with one VM, and the requests that it got. */
async function clusterWithVm(): Promise<{ kubeconfig: string; requests: readonly string[] }> {
  const requests: string[] = [];
  const server = createServer(({ method, url }, response) => {
    requests.push(`${method} ${url?.split("?")[0]}`);
    const isVms = url?.startsWith("/apis/kubevirt.io/v1/virtualmachines");
    const items = isVms ? [{ metadata: { namespace: "default", name: "demo", uid: "1" } }] : [];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ metadata: { resourceVersion: "1" }, items }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const kubeconfig = kubeconfigFor(server);
  return { kubeconfig, requests };
}

test("the command of the README prints the manifests, and a reader that has enough is not an error", async () => {
  const readme = readFileSync(path.join(import.meta.dirname, "README.md"), "utf8");
  const [line = ""] = /^.* manifests --image IMAGE \| less/m.exec(readme) ?? [];
  const first = await bash(line.replace("less", "head -n 1"));
  expect(first).toEqual({ code: 0, out: "apiVersion: v1\n", said: "" });
  const { out } = await bash(`node ${program} manifests --image registry.example/one:1`);
  expect(out.split("\n---\n").length).toBeGreaterThan(20);
  expect(out).toContain("image: registry.example/one:1\n");
});

test("no command of the README needs a program that is not on the PATH", () => {
  const readme = readFileSync(path.join(import.meta.dirname, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = ""]) => block);
  const commands = blocks.flatMap((block) => block.trimEnd().split("\n"));
  expect(commands.length).toBeGreaterThan(5);
  expect(
    commands.filter((command) => !/^(sudo )?(node examples|npm|npx tsc|kubectl)\b/.test(command)),
  ).toEqual([]);
});

test("--help of any command says how to call it", async () => {
  const { code, out, said } = await bash(`node ${program} install --help`);
  expect([code, said]).toEqual([0, ""]);
  for (const word of ["manifests --image IMAGE", "install", "uninstall", "--namespace", "--force"])
    expect(out).toContain(word);
});

test.each([
  ["install --imag x", "Unknown option '--imag'; see --help"],
  ["install", "--image is missing; name the image"],
  ["upgrade now", '"upgrade now": use manifests, install or uninstall; see --help'],
])("%s is refused in one line", async (args, reason) => {
  const { code, out, said } = await bash(`node ${program} ${args}`);
  expect({ code, out, said }).toEqual({ code: 1, out: "", said: `virtkit-operator: ${reason}\n` });
});

test("uninstall is refused while there are VMs, and deletes nothing", async () => {
  const { kubeconfig, requests } = await clusterWithVm();
  const { code, said } = await bash(`node ${program} uninstall`, { KUBECONFIG: kubeconfig });
  expect(said).toMatch(
    /^virtkit-operator: the cluster has 1 VirtualMachine; delete them, or use --force .*\n$/,
  );
  expect(code).toBe(1);
  expect(requests).toContain("GET /apis/kubevirt.io/v1/virtualmachines");
  expect(requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
});

test("Ctrl-C during an installation says in one line that it is not complete", async () => {
  const server = createServer();
  // No request is answered.
  const asked = new Promise((resolve) => server.once("request", resolve));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const kubeconfig = kubeconfigFor(server);
  const child = spawn(process.execPath, [program, "install", "--image", "one"], {
    ...{ cwd: root, env: { ...process.env, KUBECONFIG: kubeconfig } },
  });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  await asked;
  child.kill("SIGINT");
  expect(await ended).toBe(1);
  expect(said).toBe("virtkit-operator: interrupted; repeat the command to complete it\n");
});
