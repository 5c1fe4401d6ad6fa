import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { StepJournal } from "../durable/index.ts";
import {
  createRootNamespace,
  type Namespace,
  openNamespaceRoot,
  runIn,
  stopNamespaceHelper,
} from "../namespaces/index.ts";
import { ProcessHandle } from "../process/index.ts";
import { openRoot, type SafePath, type SafeRoot } from "../safe-path/index.ts";
import { background, run, temporaryDirectory } from "../testing/host-fixtures.ts";
import { type MountInfo, parseMountInfo } from "./index.ts";

afterAll(stopNamespaceHelper);

/** A process in a mount namespace of its own, standing in for a container. */
type Container = AsyncDisposable & {
  readonly root: SafeRoot;
  readonly namespace: Namespace;
  mounts(): MountInfo[];
};

async function container(): Promise<Container> {
  const unshare = ["--mount", "--propagation=private", "sh", "-c", "echo ready; exec sleep 600"];
  const child = await background("unshare", unshare);
  const process = ProcessHandle.open(child.pid);
  const [root, namespace] = [process.openRoot(), process.openNamespace("mount")];
  return {
    root,
    namespace,
    mounts: () => parseMountInfo(process.read("mountinfo")),
    async [Symbol.asyncDispose]() {
      for (const handle of [root, namespace, process]) handle.close();
      await child[Symbol.asyncDispose]();
    },
  };
}

function borrow({ fd, description }: SafePath) {
  return { fd, description };
}

function scene(path: string): void {
  mkdirSync(join(path, "source"));
  mkdirSync(join(path, "target"));
  writeFileSync(join(path, "source/disk.img"), "image");
  writeFileSync(join(path, "disk_0.img"), "");
}

function readAt(root: SafeRoot, path: string): string {
  using file = root.resolve(path, "file");
  return file.read().toString();
}

test("binds a file read-only over another, visible there and nowhere else", async () => {
  using directory = temporaryDirectory();
  scene(directory.path);
  await using pod = await container();
  using source = pod.root.resolve(`${directory.path}/source/disk.img`, "file");
  using target = pod.root.resolve(`${directory.path}/disk_0.img`, "file");
  const options = { readOnly: true, noSuid: true, noDev: true };
  await runIn([pod.namespace], "bindMount", {
    source: borrow(source),
    target: borrow(target),
    options,
  });

  expect(readAt(pod.root, `${directory.path}/disk_0.img`)).toBe("image");
  using host = openRoot(directory.path);
  expect(readAt(host, "disk_0.img")).toBe("");
  const mount = pod.mounts().find(({ mountPoint }) => mountPoint.endsWith("/disk_0.img"));
  expect(mount?.options).toEqual(expect.arrayContaining(["ro", "nosuid", "nodev"]));
  using mounted = pod.root.resolve(`${directory.path}/disk_0.img`, "file");
  expect(mounted.isMountRoot()).toBe(true);
  expect(() => mounted.open(1)).toThrow(expect.objectContaining({ errno: "EROFS" }));

  expect((await runIn([pod.namespace], "unmount", { target: borrow(mounted) })).value).toBe(true);
  expect(readAt(pod.root, `${directory.path}/disk_0.img`)).toBe("");
  using bare = pod.root.resolve(`${directory.path}/disk_0.img`, "file");
  expect((await runIn([pod.namespace], "unmount", { target: borrow(bare) })).value).toBe(false);
});

test("also unmounts where /proc belongs to another pid namespace or is missing", async () => {
  using directory = temporaryDirectory();
  scene(directory.path);
  for (const command of ["mount -t proc proc /proc", "mount -t tmpfs none /proc"]) {
    const own = ["--mount", "--propagation=private", "--pid", "--fork", "--kill-child"];
    const script = `${command} && echo ready && exec sleep 600`;
    await using child = await background("unshare", [...own, "sh", "-c", script]);
    using holder = ProcessHandle.open(child.pid);
    using namespace = holder.openNamespace("mount");
    using root = holder.openRoot();
    using source = root.resolve(join(directory.path, "source/disk.img"), "file");
    using target = root.resolve(join(directory.path, "disk_0.img"), "file");
    await runIn([namespace], "bindMount", { source: borrow(source), target: borrow(target) });
    expect(readAt(root, join(directory.path, "disk_0.img"))).toBe("image");
    using mounted = root.resolve(join(directory.path, "disk_0.img"), "file");
    expect((await runIn([namespace], "unmount", { target: borrow(mounted) })).value).toBe(true);
    expect(readAt(root, join(directory.path, "disk_0.img"))).toBe("");
  }
});

test("mounts a directory only on a directory", async () => {
  using directory = temporaryDirectory();
  scene(directory.path);
  await using pod = await container();
  using source = pod.root.resolve(`${directory.path}/source`, "directory");
  using target = pod.root.resolve(`${directory.path}/disk_0.img`, "file");
  await expect(
    runIn([pod.namespace], "bindMount", { source: borrow(source), target: borrow(target) }),
  ).rejects.toMatchObject({ code: "HOST_ARGUMENT_INVALID" });
});

test("hands a mount from one namespace to another without any path", async () => {
  using directory = temporaryDirectory();
  scene(directory.path);
  await using giver = await container();
  await using taker = await container();
  using target = giver.root.resolve(`${directory.path}/source`, "directory");
  await runIn([giver.namespace], "mountTmpfs", {
    target: borrow(target),
    options: { maxBytes: 65_536 },
  });
  using tmpfs = giver.root.resolve(`${directory.path}/source`, "directory");
  const { descriptors } = await runIn([giver.namespace], "detachedBind", { source: borrow(tmpfs) });
  using place = taker.root.resolve(`${directory.path}/target`, "directory");
  for (const mount of descriptors) {
    const request = { mount: { fd: mount.fd, description: "mount" }, target: borrow(place) };
    await runIn([taker.namespace], "attachMount", request);
    mount.close();
  }
  const found = taker.mounts().find(({ mountPoint }) => mountPoint.endsWith("/target"));
  expect(found).toMatchObject({ fileSystemType: "tmpfs" });
  expect(found?.superOptions).toContain("size=64k");
});

test("a namespace with another root contains nothing of the host", async () => {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "bin"));
  writeFileSync(join(directory.path, "bin/hello"), "inside");
  using host = openRoot(directory.path);
  using root = host.directory();
  using namespace = await createRootNamespace(root);
  using inside = await openNamespaceRoot(namespace);
  expect(readAt(inside, "bin/hello")).toBe("inside");
  using top = inside.directory();
  expect(top.list()).toEqual(["bin"]);
  expect(() => inside.resolve("../../../etc/hostname")).toThrow(
    expect.objectContaining({ errno: "ENOENT" }),
  );
  const { code, output } = await run({ command: "/bin/missing", join: [namespace] });
  expect([code, output]).toEqual([127, expect.stringContaining("/bin/missing")]);
});

test("a restarted agent knows what its predecessor began, finished and was undoing", async () => {
  using directory = temporaryDirectory();
  scene(directory.path);
  await using pod = await container();
  const state = join(directory.path, "state", "steps.journal");
  const path = `${directory.path}/disk_0.img`;
  const mount = async (): Promise<void> => {
    using source = pod.root.resolve(`${directory.path}/source/disk.img`, "file");
    using target = pod.root.resolve(path, "file");
    await runIn([pod.namespace], "bindMount", { source: borrow(source), target: borrow(target) });
  };
  const isMounted = (): boolean => {
    using target = pod.root.resolve(path, "file");
    return target.isMountRoot();
  };
  /** What the next agent relies on: the state of the step, and whether its mount exists. */
  const found = (): unknown[] => {
    using journal = new StepJournal(state);
    return journal.records().map((record) => [record.state, isMounted()]);
  };

  {
    using dying = new StepJournal(state);
    dying.begin("pod-uid/disk0", { path });
  }
  expect(found()).toEqual([["doing", false]]);
  await mount();
  expect(found()).toEqual([["doing", true]]);
  {
    using dying = new StepJournal(state);
    dying.finish("pod-uid/disk0");
    dying.beginUndo("pod-uid/disk0");
  }
  expect(found()).toEqual([["undoing", true]]);
  using target = pod.root.resolve(path, "file");
  await runIn([pod.namespace], "unmount", { target: borrow(target) });
  expect(found()).toEqual([["undoing", false]]);
});
