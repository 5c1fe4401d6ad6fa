import { spawn } from "node:child_process";
import {
  chownSync,
  closeSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer, type Server, Socket } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isHostError } from "../host-error.ts";
import { connectUnix } from "../sockets/index.ts";
import { attacker, finish, temporaryDirectory } from "../testing/host-fixtures.ts";
import { openRoot, type SafeRoot } from "./index.ts";

const tries = 10_000;

/** What an attempt against a moving target may throw: anything but a crash of our own process. */
function refused(error: unknown): true {
  if (isHostError(error)) return true;
  throw error;
}

/** A directory of the host beside a Pod's, with a secret in it. */
function scene(path: string): { pod: string; secret: string } {
  const [pod, secret] = [join(path, "pod"), join(path, "host/secret")];
  mkdirSync(join(path, "pod/dir"), { recursive: true });
  mkdirSync(join(path, "host"));
  writeFileSync(secret, "the host's secret");
  writeFileSync(join(path, "host/file"), "the host's secret");
  writeFileSync(join(pod, "disk.img"), "the Pod's disk");
  writeFileSync(join(pod, "dir/file"), "the Pod's disk");
  return { pod, secret };
}

/** Swaps a file for a link to the secret and back, as fast as it can. */
const swapFile = (pod: string, secret: string): string => `
  fs.symlinkSync(${JSON.stringify(secret)}, "${pod}/next"); fs.renameSync("${pod}/next", "${pod}/disk.img");
  fs.writeFileSync("${pod}/next", "the Pod's disk"); fs.renameSync("${pod}/next", "${pod}/disk.img");`;

test("never follows a file that is swapped for a link between check and use", async () => {
  using directory = temporaryDirectory();
  const { pod, secret } = scene(directory.path);
  await using _ = await attacker(swapFile(pod, secret));
  using root = openRoot(pod);
  const seen = { read: 0, refused: 0 };
  for (let attempt = 0; attempt < tries; attempt++) {
    try {
      using file = root.resolve("disk.img", "file");
      file.chown(107, 107);
      expect(file.read().toString()).not.toContain("secret");
      seen.read++;
    } catch (error) {
      if (refused(error)) seen.refused++;
    }
  }
  // Both happened: the attacker was active during the attempts.
  expect(seen.read).toBeGreaterThan(0);
  expect(seen.refused).toBeGreaterThan(0);
  expect(statSync(secret).uid).toBe(0);

  expect(naiveLoses(join(pod, "disk.img"), secret)).toBe(true);
});

/** Control: the same attacker against code that checks the path and then uses it. */
function naiveLoses(path: string, secret: string): boolean {
  return soon(() => {
    if (!lstatSync(path).isFile()) return false;
    chownSync(path, 107, 107);
    return readFileSync(path, "utf8").includes("secret") || statSync(secret).uid === 107;
  });
}

/** Whether an attempt succeeds before a busy host could be the reason for failure. */
function soon(attempt: () => boolean): boolean {
  for (const end = performance.now() + 30_000; performance.now() < end; ) {
    try {
      if (attempt()) return true;
    } catch {
      // Missing for a moment.
    }
  }
  return false;
}

test("a directory that is swapped for a link to the host does not lead out of the root", async () => {
  using directory = temporaryDirectory();
  const { pod } = scene(directory.path);
  await using _ = await attacker(`
    fs.renameSync("${pod}/dir", "${pod}/aside"); fs.symlinkSync("${directory.path}/host", "${pod}/dir");
    fs.unlinkSync("${pod}/dir"); fs.renameSync("${pod}/aside", "${pod}/dir");`);
  using root = openRoot(pod);
  let inside = 0;
  for (let attempt = 0; attempt < tries; attempt++) {
    try {
      using file = root.resolve("dir/file", "file");
      expect(file.read().toString()).not.toContain("secret");
      inside++;
    } catch (error) {
      refused(error);
    }
  }
  expect(inside).toBeGreaterThan(0);

  const path = join(pod, "dir/file");
  expect(soon(() => readFileSync(path, "utf8").includes("secret"))).toBe(true);
});

test(".. and absolute links stay inside the root", () => {
  using directory = temporaryDirectory();
  const { pod, secret } = scene(directory.path);
  symlinkSync(join(directory.path, "host"), join(pod, "absolute"));
  symlinkSync("../host", join(pod, "relative"));
  using root = openRoot(pod);
  const paths = ["../host/secret", "dir/../../host/secret", "absolute/secret", "relative/secret"];
  for (const path of paths) {
    expect(() => root.resolve(path)).toThrow(expect.objectContaining({ errno: "ENOENT" }));
    expect(readFileSync(join(pod, path), "utf8")).toBe(readFileSync(secret, "utf8"));
  }
});

test("refuses magic links", () => {
  using file = temporaryDirectory();
  const fd = openSync(join(file.path, "open"), "w+");
  using root = openRoot("/");
  const paths = [
    `proc/self/root${file.path}/open`,
    `proc/self/fd/${fd}`,
    `proc/self/cwd/package.json`,
  ];
  for (const path of paths) expect(() => root.resolve(path)).toThrow();
  expect(statSync(`/${paths[0]}`).isFile()).toBe(true);
  expect(statSync(`/${paths[1]}`).isFile()).toBe(true);
  closeSync(fd);
});

async function listen(path: string, name: string): Promise<Server> {
  const server = createServer((socket) => socket.end(name));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return server;
}

async function whoAnswers(root: SafeRoot, path: string): Promise<string> {
  using handle = root.resolve(path, "socket");
  using connection = await connectUnix(handle);
  return nameFrom(new Socket({ fd: connection.release() }));
}

function nameFrom(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += String(chunk);
    });
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
  });
}

test("does not dial a socket that was replaced by a link to another socket", async () => {
  using directory = temporaryDirectory();
  const { pod } = scene(directory.path);
  const path = join(pod, "console");
  const other = join(directory.path, "host/runtime.sock");
  const servers = [await listen(path, "console"), await listen(other, "runtime")];
  linkSync(path, join(pod, "kept"));
  using root = openRoot(pod);
  using before = root.resolve("console", "socket");
  const answers = new Set<string>();
  {
    await using _ = await attacker(`
      fs.symlinkSync("${other}", "${pod}/next"); fs.renameSync("${pod}/next", "${path}");
      fs.linkSync("${pod}/kept", "${pod}/next"); fs.renameSync("${pod}/next", "${path}");`);
    for (let attempt = 0; attempt < 500; attempt++) {
      try {
        answers.add(await whoAnswers(root, "console"));
      } catch (error) {
        refused(error);
      }
    }
  }
  rmSync(path);
  linkSync(join(pod, "kept"), path);
  const checked = lstatSync(path).isSocket();
  rmSync(path);
  symlinkSync(other, path);
  expect(() => root.resolve("console", "socket")).toThrow(/symlink/);
  using connection = await connectUnix(before);
  answers.add(await nameFrom(new Socket({ fd: connection.release() })));
  expect([...answers]).toEqual(["console"]);

  // Control: dialling by the path what was checked a moment ago.
  expect(checked).toBe(true);
  expect(await nameFrom(connect(path))).toBe("runtime");
  for (const server of servers) server.close();
});

test("an endless file costs no more than its limit", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "huge");
  const fd = openSync(path, "w");
  ftruncateSync(fd, 2 ** 40);
  closeSync(fd);
  using root = openRoot(directory.path);
  using huge = root.resolve("huge", "file");
  const before = process.memoryUsage().arrayBuffers;
  expect(() => huge.read({ maxBytes: 1000 })).toThrow(
    expect.objectContaining({ code: "HOST_LIMIT_EXCEEDED" }),
  );
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * 1024 * 1024);
  using devices = openRoot("/dev");
  using zero = devices.resolve("zero");
  expect(() => zero.read()).toThrow(expect.objectContaining({ code: "HOST_PATH_UNSAFE" }));
  // Control: a read of the claimed size fails, or takes all memory if it is a little smaller.
  expect(() => readFileSync(path)).toThrow(/2 GiB|too large|out of memory/i);
});

test("a FIFO in place of a file does not block the agent", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "info");
  await finish(spawn("mkfifo", [path]));
  using root = openRoot(directory.path);
  using fifo = root.resolve("info");
  expect(() => root.resolve("info", "file")).toThrow(
    expect.objectContaining({ code: "HOST_PATH_UNSAFE" }),
  );
  expect(() => fifo.read()).toThrow(expect.objectContaining({ code: "HOST_PATH_UNSAFE" }));

  const naive = spawn("cat", [path], { stdio: "ignore" });
  const blocked = await Promise.race([
    finish(naive).then(() => false),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 300)),
  ]);
  naive.kill("SIGKILL");
  expect(blocked).toBe(true);
});
