import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openRoot } from "../safe-path/index.ts";
import { connectUnix } from "../sockets/connect-unix.ts";
import { peerOf } from "../sockets/peer.ts";
import { background, finish, temporaryDirectory } from "../testing/host-fixtures.ts";
import {
  detectIsolation,
  getProcessLimit,
  inspectProcess,
  ProcessHandle,
  setProcessLimit,
} from "./index.ts";

const gone = expect.objectContaining({ code: "HOST_PROCESS_GONE" });

const sleeper = () => background("sh", ["-c", "echo ready; exec sleep 60"]);

test("inspects a process: parent, IDs, namespaces, cgroups, mounts", () => {
  using handle = ProcessHandle.open(process.pid);
  const isolation = inspectProcess(handle);
  expect(isolation).toMatchObject({ pid: process.pid, parentPid: process.ppid, uid: 0, gid: 0 });
  expect(isolation.namespaces.network).toMatch(/^net:\[\d+\]$/);
  expect(isolation.mounts.some(({ mountPoint }) => mountPoint === "/")).toBe(true);
  expect(isolation.cgroups.length).toBeGreaterThan(0);
  using namespace = handle.openNamespace("network");
  expect(namespace.identity()).toBe(isolation.namespaces.network);
});

test("opens its root only with the pidfd check", async () => {
  await using child = await sleeper();
  using handle = ProcessHandle.open(child.pid);
  using root = handle.openRoot();
  using file = root.resolve("etc/hostname", "file");
  expect(file.read().length).toBeGreaterThan(0);
});

test("a process that has ended no longer answers", async () => {
  const child = await sleeper();
  using handle = ProcessHandle.open(child.pid);
  expect(handle.isAlive()).toBe(true);
  await child[Symbol.asyncDispose]();
  expect(handle.isAlive()).toBe(false);
  expect(() => handle.status()).toThrow(gone);
  expect(() => handle.openRoot()).toThrow(gone);
  expect(() => handle.openNamespace("mount")).toThrow(gone);
  expect(() => handle.namespaceIdentities()).toThrow(gone);
  expect(() => handle.signal(15)).toThrow(gone);
  expect(() => ProcessHandle.open(child.pid)).toThrow(gone);
});

test("finds the listener of a socket from the kernel, not from the path", async () => {
  using directory = temporaryDirectory();
  const server = createServer().listen(join(directory.path, "sock"));
  await new Promise((resolve) => server.once("listening", resolve));
  using root = openRoot(directory.path);
  using socket = root.resolve("sock", "socket");
  using owner = await detectIsolation(socket);
  expect(owner.isolation).toMatchObject({ pid: process.pid, uid: 0 });
  const podUid = "6a1a24a1-4061-4607-8bf4-a3963d0c5895";
  await expect(detectIsolation(socket, { podUid })).rejects.toMatchObject({
    code: "HOST_PROCESS_FOREIGN",
  });
  server.close();
});

test("does not mistake another process for a listener that has ended", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "sock");
  const script = `const fs = require("node:fs");
    const s = require("node:net").createServer().listen(${JSON.stringify(path)}, () => fs.writeSync(1, "ready\\n"));`;
  const listener = await background(process.execPath, ["-e", script]);
  using root = openRoot(directory.path);
  using socket = root.resolve("sock", "socket");
  using connection = await connectUnix(socket);
  {
    using peer = peerOf(connection);
    expect(peer.process.pid).toBe(listener.pid);
  }
  await listener[Symbol.asyncDispose]();
  expect(() => peerOf(connection)).toThrow(gone);
});

test("reads and lowers limits of a running process", async () => {
  await using child = await sleeper();
  using handle = ProcessHandle.open(child.pid);
  setProcessLimit(handle, "nofile", { soft: 64n, hard: 128n });
  expect(getProcessLimit(handle, "nofile")).toEqual({ soft: 64n, hard: 128n });
  expect(handle.read("limits")).toMatch(/Max open files\s+64\s+128/);
  expect(() => setProcessLimit(handle, "nofile", { soft: 2n, hard: 1n })).toThrow(
    expect.objectContaining({ code: "HOST_ARGUMENT_INVALID" }),
  );
});

/**
 * Runs in its own pid namespace, where the next pid can be chosen: a process ends, and another one
 * gets its pid while a handle of the first is open.
 */
const reuse = `
  const { spawn } = await import("node:child_process");
  const fs = await import("node:fs");
  const { ProcessHandle } = await import(${JSON.stringify(new URL("../../dist/process/index.js", import.meta.url).href)});
  const start = (name) => new Promise((resolve) => {
    const child = spawn("sh", ["-c", "while :; do sleep 60; done # " + name], { stdio: "ignore" });
    child.once("spawn", () => resolve(child));
  });
  const first = await start("first");
  const handle = ProcessHandle.open(first.pid);
  first.kill("SIGKILL");
  await new Promise((resolve) => first.once("exit", resolve));
  let second;
  for (let attempt = 0; attempt < 200; attempt++) {
    fs.writeFileSync("/proc/sys/kernel/ns_last_pid", String(first.pid - 1));
    second = await start("second");
    if (second.pid === first.pid) break;
    second.kill("SIGKILL");
  }
  const naive = fs.readFileSync("/proc/" + first.pid + "/cmdline", "latin1").includes("second");
  let safe;
  try { handle.read("cmdline"); safe = "a stranger"; } catch (error) { safe = error.code; }
  console.log(JSON.stringify({ reused: second.pid === first.pid, naive, safe, alive: handle.isAlive() }));
  second.kill("SIGKILL");
  process.exit(0);
`;

test("does not mistake a reused pid for the process that had it", async () => {
  const args = ["--pid", "--fork", "--mount-proc", "--kill-child", process.execPath];
  const child: ChildProcess = spawn("unshare", [...args, "--input-type=module", "-e", reuse]);
  const { output } = await finish(child);
  // naive: the control, which looks the process up by its pid, reads the other process's command
  // line.
  expect(JSON.parse(output)).toEqual({
    reused: true,
    naive: true,
    safe: "HOST_PROCESS_GONE",
    alive: false,
  });
});
