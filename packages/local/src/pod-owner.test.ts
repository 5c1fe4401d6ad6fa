import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { forgetPodOwner, listPodOwners, notePodOwner } from "./pod-owner.ts";

const podUid = "5b0c7c1a-6f3e-4a59-9d0a-2f6c1f7f0b11";

test("a note names the state directory without links, and is removed with the Pod", async () => {
  const folder = await mkdtemp(join(tmpdir(), "virtkit-owners-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [real, link, notes] = ["real", "link", "notes"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(real);
  await symlink(real, link);
  expect(await listPodOwners(notes)).toEqual([]);
  const owner = { podUid, namespace: "default", name: "demo" };
  notePodOwner({ ...owner, stateDirectory: link }, notes);
  expect(await listPodOwners(notes)).toMatchObject([{ owner: { ...owner, stateDirectory: real } }]);
  forgetPodOwner(podUid, notes);
  forgetPodOwner(podUid, notes);
  expect(await listPodOwners(notes)).toEqual([]);
});

test.each([
  "",
  "{",
  "null",
  '{"version":2}',
  '{"version":1,"podUid":"other","stateDirectory":"/"}',
])("a note with %j exists, but names no owner", async (text) => {
  const notes = await mkdtemp(join(tmpdir(), "virtkit-owners-"));
  onTestFinished(() => rm(notes, { recursive: true, force: true }));
  await writeFile(join(notes, `${podUid}.json`), text);
  expect(await listPodOwners(notes)).toEqual([{ podUid, file: join(notes, `${podUid}.json`) }]);
});
