import { mkdir, readFile } from "node:fs/promises";
import { runProgram } from "@virtkit/lab";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../testing/temporary-directory.ts";
import { writeImage } from "../files/write-image.ts";
import { sealText } from "../sealed.ts";
import { isoImage } from "./iso-image.ts";

const long = "n".repeat(253);
const texts: Readonly<Record<string, string>> = {
  "openstack/latest/meta_data.json": "{}",
  "openstack/latest/user_data": "x".repeat(70_000),
  "größe/名前.txt": "u",
  [long]: "long",
  empty: "",
  ...Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`many/file-${at}`, String(at)])),
};

async function written(directory: string, label: string): Promise<string> {
  const path = `${directory}/medium.iso`;
  const files = Object.entries(texts).map(([name, text]) => ({
    path: name,
    content: sealText(text),
  }));
  await writeImage(path, isoImage({ label, files }));
  return path;
}

test("xorriso reads every file back, names and contents", async () => {
  const directory = await temporaryDirectory();
  const path = await written(directory.path, "config-2");
  const out = `${directory.path}/out`;
  await mkdir(out);
  await runProgram("xorriso", ["-osirrox", "on", "-indev", path, "-extract", "/", out]);
  for (const [name, text] of Object.entries(texts)) {
    expect(await readFile(`${out}/${name}`, "utf8")).toBe(text);
  }
  const names = (await runProgram("find", [out, "-type", "f"])).trim().split("\n");
  expect(names).toHaveLength(Object.keys(texts).length);
});

test.each(["cidata", "config-2", "cfgdata", "unattendCD"])(
  "blkid finds the label %s",
  async (label) => {
    const directory = await temporaryDirectory();
    const path = await written(directory.path, label);
    expect(await runProgram("blkid", ["-p", "-s", "LABEL", "-o", "value", path])).toBe(
      `${label}\n`,
    );
  },
);

test("isoinfo finds both extensions, and the Joliet names that Windows shows", async () => {
  const directory = await temporaryDirectory();
  const path = await written(directory.path, "cidata");
  const about = await runProgram("isoinfo", ["-d", "-i", path]);
  expect(about).toContain("Joliet with UCS level 3 found");
  expect(about).toContain("Rock Ridge signatures version 1 found");
  const names = await runProgram("isoinfo", ["-J", "-f", "-i", path]);
  expect(names).toContain("/openstack/latest/meta_data.json;1\n");
  expect(await runProgram("isoinfo", ["-J", "-x", "/many/file-7;1", "-i", path])).toBe("7");
});
