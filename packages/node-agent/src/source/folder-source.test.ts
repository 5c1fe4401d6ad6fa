import { execFileSync } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { folderSource } from "./folder-source.ts";
import { parseVmis } from "./read-vmis.ts";
import type { VmiChange } from "./vmi-source.ts";

function manifest(name: string, memory = "64Mi"): string {
  return `apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: { name: ${name} }
spec:
  domain:
    devices: {}
    memory: { guest: ${memory} }
`;
}

/** A folder that is watched; each change is asked for in turn. */
function watched(rescan = 20): {
  path: (name: string) => string;
  directory: string;
  next: () => Promise<string>;
  clock: { now: number };
} {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-folder-"));
  const clock = { now: 0 };
  const stop = new AbortController();
  const source = folderSource(directory, { rescan, settle: 1_000, now: () => clock.now });
  const changes = source.watch({ signal: stop.signal })[Symbol.asyncIterator]();
  onTestFinished(async () => {
    stop.abort();
    await changes.return?.();
    rmSync(directory, { recursive: true, force: true });
  });
  const text = (change: VmiChange): string => {
    if (change.kind === "synced") return "synced";
    if (change.kind === "problem") return `problem ${change.path.slice(directory.length + 1)}`;
    return `${change.kind} ${change.vmi.metadata?.name} ${change.vmi.spec.domain.memory?.guest}`;
  };
  return {
    directory,
    clock,
    path: (name) => join(directory, name),
    next: async () => text((await changes.next()).value),
  };
}

/** Lets a second pass again and again until something happens. */
async function asTimePasses<T>(clock: { now: number }, event: Promise<T>): Promise<T> {
  const timer = setInterval(() => {
    clock.now += 1_000;
  }, 20);
  try {
    return await event;
  } finally {
    clearInterval(timer);
  }
}

test("reports existing manifests first, and then additions, changes and removals", async () => {
  const { path, next, clock } = watched();
  writeFileSync(path("a.yaml"), `${manifest("one")}---\n${manifest("two")}`);
  writeFileSync(path("notes.txt"), "nothing");
  expect([await next(), await next(), await next()]).toEqual([
    "added one 64Mi",
    "added two 64Mi",
    "synced",
  ]);
  writeFileSync(path("new"), JSON.stringify(parseVmis(manifest("three"), "x")[0]));
  renameSync(path("new"), path("b.json"));
  expect(await next()).toBe("added three 64Mi");
  writeFileSync(path("new"), `${manifest("one")}---\n${manifest("two", "128Mi")}`);
  renameSync(path("new"), path("a.yaml"));
  expect(await next()).toBe("changed two 128Mi");
  writeFileSync(path("new"), manifest("two", "128Mi"));
  renameSync(path("new"), path("a.yaml"));
  expect(await asTimePasses(clock, next())).toBe("removed one 64Mi");
  unlinkSync(path("b.json"));
  expect(await asTimePasses(clock, next())).toBe("removed three 64Mi");
});

test("a file that becomes invalid keeps its objects, and is reported once", async () => {
  const { path, next, clock } = watched();
  writeFileSync(path("a.yaml"), manifest("one"));
  expect([await next(), await next()]).toEqual(["added one 64Mi", "synced"]);
  for (const text of ["", "spec: ["]) {
    writeFileSync(path("new"), text);
    renameSync(path("new"), path("a.yaml"));
    expect(await next()).toBe("problem a.yaml");
    clock.now += 10_000;
  }
  writeFileSync(path("new"), manifest("one", "96Mi"));
  renameSync(path("new"), path("a.yaml"));
  expect(await next()).toBe("changed one 96Mi");
});

test("replacing a file by deleting it first removes nothing", async () => {
  const { path, next, clock } = watched();
  writeFileSync(path("a.yaml"), manifest("one"));
  expect([await next(), await next()]).toEqual(["added one 64Mi", "synced"]);
  unlinkSync(path("a.yaml"));
  const change = next();
  await new Promise((done) => setTimeout(done, 60));
  clock.now += 500;
  writeFileSync(path("new"), manifest("one", "80Mi"));
  renameSync(path("new"), path("a.yaml"));
  expect(await change).toBe("changed one 80Mi");
  await new Promise((done) => setTimeout(done, 60));
  clock.now += 5_000;
  writeFileSync(path("new"), manifest("two"));
  renameSync(path("new"), path("b.yaml"));
  expect(await next()).toBe("added two 64Mi");
});

test("a folder that disappears is a problem, and removes nothing", async () => {
  const { path, next, directory, clock } = watched();
  writeFileSync(path("a.yaml"), manifest("one"));
  expect([await next(), await next()]).toEqual(["added one 64Mi", "synced"]);
  renameSync(directory, `${directory}-away`);
  expect(await next()).toBe("problem ");
  clock.now += 10_000;
  writeFileSync(`${directory}-away/new`, manifest("two"));
  renameSync(`${directory}-away/new`, `${directory}-away/b.yaml`);
  renameSync(`${directory}-away`, directory);
  expect(await next()).toBe("added two 64Mi");
});

test("the first of two manifests of one VMI counts", async () => {
  const { path, next } = watched();
  writeFileSync(path("b.yaml"), manifest("one", "32Mi"));
  writeFileSync(path("a.yaml"), manifest("one"));
  expect([await next(), await next(), await next()]).toEqual([
    "problem b.yaml",
    "added one 64Mi",
    "synced",
  ]);
});

test("a pipe among the manifests does not block", async () => {
  const { path, next } = watched();
  execFileSync("mkfifo", [path("a.yaml")]);
  expect([await next(), await next()]).toEqual(["problem a.yaml", "synced"]);
});

test("the end of the watch ends the iteration", async () => {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-folder-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const stop = new AbortController();
  const seen: string[] = [];
  for await (const { kind } of folderSource(directory).watch({ signal: stop.signal })) {
    seen.push(kind);
    stop.abort();
  }
  expect(seen).toEqual(["synced"]);
});

test("a VMI always gets the same namespace and UID", () => {
  const [one] = parseVmis(manifest("one"), "x");
  const [again] = parseVmis(manifest("one", "1Gi"), "y");
  expect(one?.metadata).toMatchObject({ name: "one", namespace: "default" });
  expect(one?.metadata?.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
  expect(again?.metadata?.uid).toBe(one?.metadata?.uid);
});

test.each([
  ["nothing", "---\n# nothing\n"],
  ["another kind", "kind: Pod"],
  ["a list", "- 1"],
  ["invalid YAML", "a: [1"],
  ["no name", "kind: VirtualMachineInstance\nspec: { domain: { devices: {} } }"],
  ["no domain", "kind: VirtualMachineInstance\nmetadata: { name: x }"],
  ["a wrong type", `${manifest("x")}  volumes: 7`],
  [
    "aliases that expand",
    `a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d]`,
  ],
])("%s is rejected with the place", (_, text) => {
  expect(() => parseVmis(text, "dir/file.yaml")).toThrow(
    expect.objectContaining({ code: "AGENT_MANIFEST", path: "dir/file.yaml" }),
  );
});
