import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";

const module = new URL("./show-cluster.mjs", import.meta.url).href;

const folder = mkdtempSync(path.join(tmpdir(), "virtkit-show-"));
const kubeconfig = path.join(folder, "admin.conf");
const clusters = [{ cluster: { server: "http://127.0.0.1:9", "certificate-authority-data": "" } }];
writeFileSync(kubeconfig, JSON.stringify({ clusters, users: [{ user: { token: "none" } }] }));
afterAll(() => rmSync(folder, { recursive: true }));

/** Shows a cluster with eleven VMIs. Their consoles cannot be reached. */
const program = `
const { showCluster } = await import(${JSON.stringify(module)});
const numbers = Array.from({ length: 11 }, (_, at) => at + 1);
const vmis = numbers.map((number) => ({
  metadata: { namespace: "default", name: "vm-" + String(number).padStart(2, "0"), uid: String(number), creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: {},
  status: { phase: "Running", nodeName: "node-1" },
}));
const request = async (place) => {
  if (!process.stderr.isTTY) process.stderr.write("asked\\n");
  return { status: place.includes("cdi.") ? 404 : 200, body: { items: place.endsWith("virtualmachineinstances") ? vmis : [] } };
};
process.exitCode = await showCluster({ kubeconfig: ${JSON.stringify(kubeconfig)}, request }, new AbortController().signal);
`;

/** What `command` shows on a terminal of 60 columns and 20 rows, and the keys of that terminal. @param {string} command */
function terminal(command) {
  const line = `stty cols 60 rows 20; exec ${command}`;
  const child = spawn("script", ["-qfec", line, "/dev/null"], {
    env: { ...process.env, PROGRAM: program },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let shown = "";
  child.stdout.on("data", (chunk) => {
    shown += chunk;
  });
  return {
    press: (/** @type {string} */ key) => child.stdin.write(key),
    shown: () => shown,
    ended: once(child, "close").then(([code]) => code),
  };
}

const showing = `"${process.execPath}" --input-type=module -e "$PROGRAM"`;
const patience = { timeout: 30_000 };

test("on a terminal it redraws in place, answers keys, and Ctrl-C ends it with the terminal restored", async () => {
  const { press, shown, ended } = terminal(`sh -c '${showing}; echo code=$?; stty -a'`);
  await expect.poll(shown, patience).toContain("1  default/vm-01  Running  node-1  no address yet");
  expect(shown()).toContain(`  export KUBECONFIG=${kubeconfig}`);
  press("z");
  await expect.poll(shown, patience).toContain("There is no VMI z.");
  // It is never cleared as a whole, which flickers.
  expect(shown()).not.toContain("\x1b[2J");
  // The eleventh, although it is below the end of the screen.
  press("b");
  const refused = "Console of default/vm-11: the console could not be";
  await expect.poll(shown, patience).toContain(refused);
  press("\x03");
  expect(await ended).toBe(0);
  expect(shown()).toContain("code=0");
  expect(shown()).toMatch(/\sicanon\s[\s\S]*\secho\s/);
});

test("an API server that answers with an error is not an empty cluster", async () => {
  const failing = program.replace("? 404 : 200", "? 404 : 503");
  expect(failing).not.toBe(program);
  const child = spawn(process.execPath, ["--input-type=module", "-e", failing]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let shown = "";
  child.stdout.on("data", (chunk) => {
    shown += chunk;
  });
  await expect.poll(() => shown, patience).toContain("The API server does not answer.");
  expect(shown).not.toContain("There are no VMs");
});

test("without a terminal it writes each change once and names no keys", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", program]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let [shown, asked] = ["", ""];
  child.stdout.on("data", (chunk) => {
    shown += chunk;
  });
  child.stderr.on("data", (chunk) => {
    asked += chunk;
  });
  // Each update takes five requests.
  await expect.poll(() => asked.split("\n").length, patience).toBeGreaterThan(11);
  expect(shown).not.toMatch("\x1b");
  expect(shown).not.toMatch("opens its console");
  expect(shown.match(/default\/vm-01/g)).toHaveLength(1);
});
