import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { finish, temporaryDirectory } from "../testing/host-fixtures.ts";

const built = (path: string): string =>
  JSON.stringify(new URL(`../../dist/namespaces/${path}`, import.meta.url).href);

/** Loaded before a mount namespace's own `/run` hides anything. */
const head = `
  const { execFileSync, spawn } = await import("node:child_process");
  const fs = await import("node:fs");
  const spaces = await import(${built("index.js")});
  const { shareDirectory } = await import(${built("share-directory.js")});
  const run = (line) => execFileSync("sh", ["-c", line], { encoding: "utf8", stdio: "pipe" });
  const attempt = (action) => {
    try { return action(); } catch (error) { return error.errno ?? error.code; }
  };
  const listed = () => Number(run("grep -c ' /run/netns' /proc/self/mountinfo || true"));
  run("mount -t tmpfs none /run");
  // Those of the host are below the new /run, and stay in the list.
  const before = listed();
  const mounts = () => listed() - before;
`;

/** Runs a Node script in its own mount namespace, with its own `/run`, and parses its output. */
async function inPrivateRun(script: string): Promise<unknown> {
  using directory = temporaryDirectory();
  // A file, not an argument: the helper thread for namespaces would inherit the options that say
  // how to read the argument.
  const file = join(directory.path, "script.mjs");
  writeFileSync(file, `${head}${script}\nprocess.exit(0);`);
  const args = ["--mount", "--propagation=private", process.execPath, file];
  const { code, output } = await finish(spawn("unshare", args));
  if (code !== 0) throw new Error(output);
  return JSON.parse(output);
}

test("removes a namespace after ip netns has used the directory", async () => {
  const told = await inPrivateRun(`
    (await spaces.createNetworkNamespace("ours")).close();
    run("ip netns add other");
    const removed = attempt(() => spaces.deleteNetworkNamespace("ours"));
    run("ip netns delete other");
    console.log(JSON.stringify({ removed, left: fs.readdirSync("/run/netns"), mounts: mounts() }));
  `);
  expect(told).toEqual({ removed: true, left: [], mounts: 1 });
});

test("control: ip netns hides a namespace in a directory that is not a mount, and it stays", async () => {
  const told = await inPrivateRun(`
    fs.mkdirSync("/run/netns");
    fs.writeFileSync("/run/netns/ours", "");
    run("unshare --net mount --bind /proc/self/ns/net /run/netns/ours");
    run("ip netns add other");
    const removed = attempt(() => spaces.deleteNetworkNamespace("ours"));
    console.log(JSON.stringify({ removed, left: fs.readdirSync("/run/netns").includes("ours") }));
  `);
  expect(told).toEqual({ removed: "EBUSY", left: true });
});

test("many concurrent calls create one mount of the directory", async () => {
  const script = `
    const { shareDirectory } = await import(${built("share-directory.js")});
    await shareDirectory("/run/netns");
  `;
  const told = await inPrivateRun(`
    fs.mkdirSync("/run/netns");
    const args = ["--input-type=module", "-e", ${JSON.stringify(script)}];
    const codes = await Promise.all(Array.from({ length: 8 }, () => new Promise((resolve) => {
      spawn(process.execPath, args, { stdio: "inherit" }).once("exit", resolve);
    })));
    console.log(JSON.stringify({ codes: [...new Set(codes)], mounts: mounts() }));
  `);
  expect(told).toEqual({ codes: [0], mounts: 1 });
});

test("names a holder that keeps the lock instead of waiting forever", async () => {
  const told = await inPrivateRun(`
    fs.mkdirSync("/run/netns");
    const holder = spawn("flock", ["-F", "/run/netns", "sh", "-c", "echo held; exec sleep 600"]);
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    const error = await shareDirectory("/run/netns", 100).catch((caught) => caught);
    holder.kill("SIGKILL");
    console.log(JSON.stringify({ code: error.code, path: error.path, mounts: mounts() }));
  `);
  expect(told).toEqual({ code: "HOST_TIMEOUT", path: "/run/netns", mounts: 0 });
});
