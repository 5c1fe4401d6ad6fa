import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";

const module = new URL("./show-cluster.mjs", import.meta.url).href;

/** Shows a cluster that answers with one VMI to whoever asks for VMIs. */
const program = `
const { showCluster } = await import(${JSON.stringify(module)});
const metadata = { namespace: "default", name: "demo", uid: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
const vmi = { metadata, spec: {}, status: { phase: "Running", nodeName: "node-1" } };
const request = async (place) => {
  if (!process.stderr.isTTY) process.stderr.write("asked\\n");
  return { body: { items: place.includes("virtualmachine") ? [vmi] : [] } };
};
process.exitCode = await showCluster({ kubeconfig: "/a/b/admin.conf", request }, new AbortController().signal);
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
  await expect.poll(shown, patience).toContain("1  default/demo  Running  node-1  no address yet");
  expect(shown()).toContain("  export KUBECONFIG=/a/b/admin.conf");
  press("7");
  await expect.poll(shown, patience).toContain("There is no VMI 7.");
  // It is never cleared as a whole, which flickers.
  expect(shown()).not.toContain("\x1b[2J");
  press("\x03");
  expect(await ended).toBe(0);
  expect(shown()).toContain("code=0");
  expect(shown()).toMatch(/\sicanon\s[\s\S]*\secho\s/);
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
  // Each update takes three requests.
  await expect.poll(() => asked.split("\n").length, patience).toBeGreaterThan(7);
  expect(shown).not.toMatch("\x1b");
  expect(shown).not.toMatch("A number");
  expect(shown.match(/default\/demo/g)).toHaveLength(1);
});
