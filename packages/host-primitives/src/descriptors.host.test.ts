import { mkdirSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  createNetworkNamespace,
  deleteNetworkNamespace,
  runIn,
  stopNamespaceHelper,
} from "./namespaces/index.ts";
import { inspectProcess, ProcessHandle } from "./process/index.ts";
import { openRoot } from "./safe-path/index.ts";
import { receiveDescriptors, sendDescriptors, socketPair } from "./sockets/index.ts";
import { openDescriptors, temporaryDirectory, uniqueName } from "./testing/host-fixtures.ts";

afterAll(stopNamespaceHelper);

function attempt(action: () => unknown): void {
  try {
    action();
  } catch {
    // Failures must not leak either.
  }
}

/** Good and bad uses of nearly everything that opens a descriptor. */
async function useEverything(directory: string): Promise<void> {
  using root = openRoot(directory);
  using file = root.resolve("dir/file", "file");
  file.read();
  for (const path of ["link", "absent", "dir/file/x", "..", "dir/file\0"])
    attempt(() => root.resolve(path));
  attempt(() => root.resolve("dir", "file"));
  attempt(() => file.read({ maxBytes: 1 }));
  using top = root.directory();
  top.list();
  attempt(() => top.list({ maxEntries: 1 }));
  using self = ProcessHandle.open(process.pid);
  inspectProcess(self);
  attempt(() => ProcessHandle.open(4_194_303));
  const name = uniqueName("leak");
  using namespace = await createNetworkNamespace(name);
  const { descriptors } = await runIn([namespace], "createTap", {
    name: "tap0",
    queues: 2,
    persistent: false,
  });
  for (const queue of descriptors) queue.close();
  await runIn([namespace], "createTap", { name: "tap0", mtu: 65_535 }).catch(() => undefined);
  deleteNetworkNamespace(name);
  const [left, right] = socketPair();
  sendDescriptors(left, Buffer.from("x"), [left, right]);
  attempt(() => receiveDescriptors(right, { maxDescriptors: 1 }));
  left.close();
  right.close();
}

test("neither success nor failure leaves a descriptor open", async () => {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "dir"));
  writeFileSync(join(directory.path, "dir/file"), "content");
  symlinkSync("dir/file", join(directory.path, "link"));
  // One round for what stays open on purpose: the helper thread's own descriptors.
  await useEverything(directory.path);
  const before = openDescriptors();
  for (let round = 0; round < 20; round++) await useEverything(directory.path);
  expect(openDescriptors()).toBe(before);
});

test("counts a leak", () => {
  const before = openDescriptors();
  openSync("/dev/null", "r");
  expect(openDescriptors()).toBe(before + 1);
});
