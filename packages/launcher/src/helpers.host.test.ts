import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { helperPrograms, provideHelpers } from "../../../tools/helpers.mjs";
import { serveConnection } from "./channel/serve-connection.ts";
import { info } from "./testing/channel-fixture.ts";
import { MemoryGuest } from "./testing/memory-guest.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "virtkit-helpers-"));
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const cache = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "virtkit");
  const program = provideHelpers(root, cache);
  for (const name of helperPrograms) symlinkSync(program, join(folder, name));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** A launcher with a guest in memory, where the helpers look for it. */
async function launcher(): Promise<{ readonly guest: MemoryGuest; readonly socket: string }> {
  const guest = new MemoryGuest();
  const socket = join(mkdtempSync(join(folder, "pod-")), "launcher-sock");
  const server: Server = createServer((connection) => {
    serveConnection(connection, { control: guest, info: () => info });
  });
  server.listen(socket);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { guest, socket };
}

function start(name: string, args: readonly string[], socket = ""): ChildProcess {
  const child = spawn(join(folder, name), args, {
    env: { VIRTKIT_LAUNCHER_SOCKET: socket },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function run(name: string, args: readonly string[], socket = "") {
  const child = start(name, args, socket);
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk) => (output.stdout += String(chunk)));
  child.stderr?.on("data", (chunk) => (output.stderr += String(chunk)));
  const [code] = await once(child, "close");
  return { code, ...output };
}

test("virt-probe asks the guest's agent whether it answers", async () => {
  const { guest, socket } = await launcher();
  const args = ["--domainName", "ns_vm", "--timeoutSeconds", "60", "--guestAgentPing"];
  expect(await run("virt-probe", args, socket)).toMatchObject({ code: 0 });
  expect(guest.calls.map(({ verb }) => verb)).toEqual(["guestPing"]);
  guest.before = async () => {
    throw new Error("the agent is asleep");
  };
  const failed = await run("virt-probe", args, socket);
  expect(failed.code).toBe(1);
  expect(failed.stderr).not.toBe("");
});

test("virt-probe runs a command in the guest, and ends as it ended", async () => {
  const { guest, socket } = await launcher();
  const command = ["--command", "cat", "--", "-v", "/etc/os-release"];
  const { code } = await run("virt-probe", ["--timeoutSeconds", "60", ...command], socket);
  expect(code).toBe(0);
  expect(guest.calls).toEqual([
    expect.objectContaining({
      verb: "exec",
      args: expect.objectContaining({ command: "cat", args: ["-v", "/etc/os-release"] }),
    }),
  ]);
});

test.each([
  [0, 0],
  [1, 1],
  [77, 77],
  // As a guest with Windows may: the kernel would keep the lowest byte, which is success.
  [256, 1],
  [-1, 1],
])(
  "virt-probe ends with the exit code of the guest's command, or with 1 if it cannot: %i, %i",
  async (inGuest, expected) => {
    const { guest, socket } = await launcher();
    guest.exec = async () => ({ exitCode: inGuest, stdout: "said", stderr: "" });
    const command = ["--timeoutSeconds", "60", "--command", "test"];
    expect(await run("virt-probe", command, socket)).toEqual({
      ...{ code: expected, stdout: "said", stderr: "" },
    });
  },
);

test("a helper is small, needs no libraries, and starts in milliseconds", () => {
  const program = join(folder, "container-disk");
  expect(statSync(program).size).toBeLessThan(4e6);
  // What a dynamic linker would load is named in the file.
  expect(readFileSync(program).includes("/ld-linux")).toBe(false);
  const loop = 'for i in $(seq 20); do "$0" --no-op || exit 1; done; times';
  const { status, stdout } = spawnSync("bash", ["-c", loop, program], { encoding: "utf8" });
  expect(status).toBe(0);
  // CPU time, which other processes do not change: of its children, the second line. Node takes 40 ms to start.
  const [user = "", system = ""] = stdout.trim().split("\n").at(-1)?.split(" ") ?? [];
  const seconds = (text: string): number => {
    const [, minutes, rest] = /^(\d+)m([\d.]+)s$/.exec(text) ?? [];
    return Number(minutes) * 60 + Number(rest);
  };
  expect((seconds(user) + seconds(system)) / 20).toBeLessThan(0.01);
});

test("virt-freezer freezes and thaws", async () => {
  const { guest, socket } = await launcher();
  const vmi = ["--name", "vm", "--namespace", "ns"];
  expect(await run("virt-freezer", ["--freeze", ...vmi], socket)).toMatchObject({ code: 0 });
  expect(await run("virt-freezer", ["--unfreeze", ...vmi], socket)).toMatchObject({ code: 0 });
  expect(guest.calls.map(({ verb }) => verb)).toEqual(["freeze", "unfreeze"]);
});

test("a missing launcher is a clear failure", async () => {
  const { code, stderr } = await run("virt-freezer", ["--freeze"], join(folder, "none"));
  expect(code).toBe(1);
  expect(stderr).toMatch(/launcher does not answer/);
});

test.each([
  ["virt-probe", []],
  ["virt-freezer", ["--freeze", "--unfreeze"]],
  ["virt-tail", []],
  ["container-disk", ["--bogus"]],
])("%s %j: wrong usage ends with 2", async (name, args) => {
  expect((await run(name, args)).code).toBe(2);
});

test("virt-tail prints a log from its beginning, even one that is replaced, and ends on request", async () => {
  const log = join(mkdtempSync(join(folder, "log-")), "serial");
  const child = start("virt-tail", ["--logfile", log]);
  let printed = "";
  child.stdout?.on("data", (chunk) => (printed += String(chunk)));
  writeFileSync(log, "one\n");
  await expect.poll(() => printed).toBe("one\n");
  appendFileSync(log, "two\n");
  await expect.poll(() => printed).toBe("one\ntwo\n");
  renameSync(log, `${log}.1`);
  writeFileSync(log, "three\n");
  await expect.poll(() => printed).toContain("three\n");
  appendFileSync(log, "last words\n");
  child.kill("SIGTERM");
  const [code] = await once(child, "close");
  expect(code).toBe(0);
  expect(printed).toMatch(/last words\n$/);
});

test("container-disk ends at once, or holds its image until it is asked to end", async () => {
  expect(await run("container-disk", ["--no-op"])).toMatchObject({ code: 0 });
  const path = join(mkdtempSync(join(folder, "disk-")), "disk_0");
  const child = start("container-disk", ["--copy-path", path]);
  await expect.poll(() => existsSync(`${path}.sock`)).toBe(true);
  child.kill("SIGTERM");
  const [code] = await once(child, "close");
  expect(code).toBe(0);
});
