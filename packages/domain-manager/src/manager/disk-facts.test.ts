import { mkdir, readdir, writeFile } from "node:fs/promises";
import { names } from "@virtkit/api/names";
import { parseDomain } from "@virtkit/converter";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../testing/temporary-directory.ts";
import { diskFacts, takesDirectIo } from "./disk-facts.ts";
import { localPaths } from "./launcher-files.ts";

test("tests the directory of a file that does not exist yet, and leaves it unchanged", async () => {
  const { path: directory } = await temporaryDirectory();
  await writeFile(`${directory}/there`, "x");
  const answer = await takesDirectIo(`${directory}/there`);
  expect(await takesDirectIo(`${directory}/not-there`)).toBe(answer);
  expect(await readdir(directory)).toEqual(["there"]);
  expect(await takesDirectIo(`${directory}/no/directory`)).toBe(false);
});

test("tmpfs supports no direct I/O, and the node agent's knowledge takes precedence", async () => {
  const { path: root } = await temporaryDirectory();
  const localPath = localPaths(names({ directories: { private: root } }), {});
  await mkdir(`${root}/vmi-disks/a`, { recursive: true });
  await writeFile(`${root}/vmi-disks/a/disk.img`, Buffer.alloc(1 << 20, 1));
  const path = `${names().directories.vmiDisks}/a/disk.img`;
  const domain = parseDomain(`<domain type='kvm'><name>n</name><devices>
    <disk type='file' device='disk'><source file='${path}'/><target dev='vda'/></disk>
    </devices></domain>`);
  const told = await diskFacts(domain, localPath, { noDirectIO: [path] });
  expect(told.takesDirectIo(path)).toBe(false);
  const found = await diskFacts(domain, localPath);
  expect(found.takesDirectIo(path)).toBe(await takesDirectIo(`${root}/vmi-disks/a/disk.img`));
  expect(found.isPreallocated(path)).toBe(true);
  expect(found.isPreallocated(`${path}.other`)).toBe(false);
});

test("finds paths of the domain where this process has them", () => {
  const own = names({ directories: { private: "/p", ephemeralDisks: "/e" } });
  const { private: state, share, ephemeralDisks } = names().directories;
  const localPath = localPaths(own, {});
  expect(localPath(`${state}/x`)).toBe("/p/x");
  expect(localPath(`${ephemeralDisks}/x`)).toBe("/e/x");
  expect(localPath(`${share}/x`)).toBe(`${share}/x`);
  expect(localPath("/dev/data")).toBe("/dev/data");
});

test("the domain's directories are those of its context's names", () => {
  const own = names({ directories: { private: "/p" } });
  const localPath = localPaths(own, { names: { directories: { private: "/run/vm-private" } } });
  expect(localPath("/run/vm-private/x")).toBe("/p/x");
  expect(localPath(`${names().directories.private}/x`)).toBe(`${names().directories.private}/x`);
  expect(localPaths(own, { names: own.options })("/p/x")).toBe("/p/x");
});
