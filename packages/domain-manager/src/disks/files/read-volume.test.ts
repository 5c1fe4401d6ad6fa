import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../testing/temporary-directory.ts";
import { readVolume } from "./read-volume.ts";

async function read(path: string, limits = {}): Promise<Record<string, string> | undefined> {
  const files = await readVolume(path, limits);
  return (
    files &&
    Object.fromEntries(
      files.map(({ path: name, content }) => [
        name,
        Buffer.from(content.reveal()).toString("utf8"),
      ]),
    )
  );
}

test("reads a volume as the kubelet lays it out: each key once, without the kubelet's own files", async () => {
  const directory = await temporaryDirectory();
  await directory.fill({
    "..2026_01/config": "c",
    "..2026_01/sub/key": "k",
    "..data": "-> ..2026_01",
    config: "-> ..data/config",
    sub: "-> ..data/sub",
    plain: "p",
  });
  expect(await read(directory.path)).toEqual({ config: "c", "sub/key": "k", plain: "p" });
});

test("a volume that is not mounted is undefined; an empty one has no files", async () => {
  const directory = await temporaryDirectory();
  expect(await read(`${directory.path}/gone`)).toBe(undefined);
  expect(await read(directory.path)).toEqual({});
});

test("resolves links inside the volume, so that none leads out", async () => {
  const directory = await temporaryDirectory();
  await directory.fill({
    secret: "outside",
    "volume/etc/passwd": "inside",
    "volume/absolute": "-> /etc/passwd",
    "volume/upwards": "-> ../../../../../etc/passwd",
  });
  const files = await read(`${directory.path}/volume`);
  expect(files).toMatchObject({ absolute: "inside", upwards: "inside" });
});

test.each([
  ["leads nowhere", "-> ../secret", "DISK_SOURCE_MISSING"],
  ["leads to itself", "-> a", "DISK_SOURCE_REFUSED"],
  ["leads to the directory that it is in", "-> .", "DISK_TOO_LARGE"],
])("rejects a link that %s", async (_, link, code) => {
  const directory = await temporaryDirectory();
  await directory.fill({ secret: "outside", "volume/a": link });
  // The control: a reader that trusts the link is led out.
  if (link === "-> ../secret") {
    expect(await readFile(`${directory.path}/volume/a`, "utf8")).toBe("outside");
  }
  await expect(readVolume(`${directory.path}/volume`)).rejects.toMatchObject({ code });
});

test("rejects a pipe without blocking", async () => {
  const directory = await temporaryDirectory();
  execFileSync("mkfifo", [`${directory.path}/pipe`]);
  await expect(readVolume(directory.path)).rejects.toMatchObject({ code: "DISK_SOURCE_REFUSED" });
});

test("limits bytes and files, and the error does not show what was read", async () => {
  const directory = await temporaryDirectory();
  await directory.fill({ a: "hunter2", b: "hunter2" });
  expect(await read(directory.path, { maxBytes: 14, maxFiles: 2 })).toEqual({
    a: "hunter2",
    b: "hunter2",
  });
  for (const limits of [{ maxBytes: 13 }, { maxFiles: 1 }]) {
    const error: unknown = await readVolume(directory.path, limits).catch(
      (caught: unknown) => caught,
    );
    expect(error).toMatchObject({ code: "DISK_TOO_LARGE" });
    expect(String(error)).not.toContain("hunter2");
  }
});

test("files keep the permissions that the kubelet gave them", async () => {
  const directory = await temporaryDirectory();
  await writeFile(`${directory.path}/key`, "k", { mode: 0o400 });
  expect(await readVolume(directory.path)).toMatchObject([{ path: "key", mode: 0o400 }]);
});
