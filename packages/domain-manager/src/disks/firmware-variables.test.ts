import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../testing/temporary-directory.ts";
import { createFirmwareVariables } from "./firmware-variables.ts";

test("copies the template once, and keeps the guest's own variables", async () => {
  const directory = await temporaryDirectory();
  await directory.fill({ "real.fd": "template", "OVMF_VARS.fd": "-> real.fd" });
  const path = `${directory.path}/nvram/vm1_VARS.fd`;
  expect(await createFirmwareVariables(`${directory.path}/OVMF_VARS.fd`, path)).toBe(true);
  expect(await readFile(path, "utf8")).toBe("template");
  await writeFile(path, "boot entries");
  expect(await createFirmwareVariables(`${directory.path}/OVMF_VARS.fd`, path)).toBe(false);
  expect(await readFile(path, "utf8")).toBe("boot entries");
});

test("the error for a missing firmware names the template", async () => {
  const directory = await temporaryDirectory();
  const template = `${directory.path}/none.fd`;
  await expect(createFirmwareVariables(template, `${directory.path}/x`)).rejects.toMatchObject({
    code: "DISK_SOURCE_MISSING",
    path: template,
  });
});
