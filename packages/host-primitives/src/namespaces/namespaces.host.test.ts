import { readlinkSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryDirectory, uniqueName } from "../testing/host-fixtures.ts";
import {
  createNetworkNamespace,
  deleteNetworkNamespace,
  listNetworkNamespaces,
  type Namespace,
  openNamespace,
  runIn,
  stopNamespaceHelper,
} from "./index.ts";

const [red, blue] = [uniqueName("red"), uniqueName("blue")];
let spaces: { red: Namespace; blue: Namespace };

beforeAll(async () => {
  spaces = { red: await createNetworkNamespace(red), blue: await createNetworkNamespace(blue) };
});
afterAll(async () => {
  for (const [name, namespace] of [
    [red, spaces.red],
    [blue, spaces.blue],
  ] as const) {
    namespace.close();
    deleteNetworkNamespace(name);
  }
  await stopNamespaceHelper();
});

const home = (): string => readlinkSync("/proc/thread-self/ns/net");

test("creates, lists, opens by path and deletes persistent namespaces", async () => {
  expect(listNetworkNamespaces()).toEqual(expect.arrayContaining([red, blue]));
  using again = openNamespace("network", `/run/netns/${red}`);
  expect(again.identity()).toBe(spaces.red.identity());
  expect(spaces.red.identity()).not.toBe(spaces.blue.identity());
  await expect(createNetworkNamespace(red)).rejects.toMatchObject({ errno: "EEXIST" });
  expect(listNetworkNamespaces()).toContain(red);
  expect(deleteNetworkNamespace(uniqueName("none"))).toBe(false);
});

test("runs an operation in its namespace without moving the main thread", async () => {
  const before = home();
  await runIn([spaces.red], "writeSysctl", { name: "net/ipv4/ip_forward", value: "1" });
  const forward = async (namespaces: Namespace[]): Promise<string> =>
    (await runIn(namespaces, "readSysctl", { name: "net/ipv4/ip_forward" })).value;
  expect(await forward([spaces.red])).toBe("1");
  expect(await forward([spaces.blue])).toBe("0");
  expect((await runIn([spaces.red], "listInterfaces", {})).value).toEqual(["lo"]);
  expect(home()).toBe(before);
});

test("the helper returns home after each operation, even a failed one", async () => {
  const interfaces = (await runIn([], "listInterfaces", {})).value;
  await expect(runIn([spaces.red], "createTap", { name: "a/b" })).rejects.toMatchObject({
    code: "HOST_ARGUMENT_INVALID",
    path: "name",
  });
  expect((await runIn([], "listInterfaces", {})).value).toEqual(interfaces);
});

test("answers many concurrent operations each in its own namespace", async () => {
  const names = Array.from({ length: 50 }, (_, index) => uniqueName(index.toString(36)));
  const made = await Promise.all(
    names.map((name, index) =>
      runIn([index % 2 ? spaces.red : spaces.blue], "createTap", { name }),
    ),
  );
  for (const { descriptors } of made) for (const queue of descriptors) queue.close();
  const [inRed, inBlue] = await Promise.all([
    runIn([spaces.red], "listInterfaces", {}),
    runIn([spaces.blue], "listInterfaces", {}),
  ]);
  expect(inRed.value.length + inBlue.value.length).toBe(52);
  expect(inRed.value).toContain(names[1]);
  expect(inBlue.value).not.toContain(names[1]);
});

test("a socket stays in the namespace that it was opened in", async () => {
  const { descriptors } = await runIn([spaces.red], "openSocket", { kind: "udp4", port: 5353 });
  // The same address is free at home and in the other namespace.
  const other = await runIn([spaces.blue], "openSocket", { kind: "udp4", port: 5353 });
  await expect(
    runIn([spaces.red], "openSocket", { kind: "udp4", port: 5353 }),
  ).rejects.toMatchObject({
    errno: "EADDRINUSE",
    syscall: "bind",
  });
  for (const socket of [...descriptors, ...other.descriptors]) socket.close();
});

test.each([
  "../../../etc/passwd",
  "kernel/hostname",
  "net/../kernel/hostname",
  "/etc/passwd",
  "net",
])("rejects %j as a setting of a network namespace", async (name) => {
  await expect(runIn([spaces.red], "readSysctl", { name })).rejects.toMatchObject({
    code: "HOST_ARGUMENT_INVALID",
  });
});

test("rejects operations that are not in the list", async () => {
  for (const name of ["constructor", "__proto__", "eval"]) {
    await expect(runIn([], name as "openRoot", {})).rejects.toMatchObject({ path: "operation" });
  }
});

test("rejects a file that is not a namespace, or one of another kind", () => {
  using directory = temporaryDirectory();
  expect(() => openNamespace("network", "/proc/self/ns/mnt")).toThrow(/not a network namespace/);
  expect(() => openNamespace("network", "/etc/hostname")).toThrow(/not a network namespace/);
  expect(() => openNamespace("network", `${directory.path}/x`)).toThrow(
    expect.objectContaining({ errno: "ENOENT" }),
  );
});

test("a user namespace is for new processes only", async () => {
  using user = openNamespace("user", "/proc/self/ns/user");
  await expect(runIn([user], "listInterfaces", {})).rejects.toMatchObject({
    code: "HOST_ARGUMENT_INVALID",
  });
});

test("replaces a helper that was ended on the next call", async () => {
  await stopNamespaceHelper();
  expect((await runIn([spaces.red], "listInterfaces", {})).value).toContain("lo");
});

test("descriptors outlive the helper that opened them", async () => {
  const { descriptors } = await runIn([spaces.red], "openSocket", { kind: "udp4" });
  await stopNamespaceHelper();
  const [socket] = descriptors;
  expect(readlinkSync(socket?.procPath ?? "")).toMatch(/^socket:/);
  socket?.close();
});
