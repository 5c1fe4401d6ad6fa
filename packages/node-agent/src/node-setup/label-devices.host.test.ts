import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openRoot } from "@virtkit/host-primitives/safe-path";
import { expect, onTestFinished, test } from "vitest";
import { labelDevices } from "./label-devices.ts";

test("the device nodes of the node's root are labelled; missing ones are skipped", () => {
  const root = mkdtempSync("/tmp/node-");
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "dev"));
  execFileSync("mknod", [join(root, "dev/null"), "c", "1", "3"]);
  expect(labelDevices(root)).toEqual([]);
  mkdirSync(join(root, "sys/fs/selinux"), { recursive: true });
  writeFileSync(join(root, "sys/fs/selinux/enforce"), "1");
  expect(labelDevices(root)).toEqual(["/dev/null"]);
  using node = openRoot(root);
  using device = node.resolve("/dev/null", "char");
  const label = device.getAttribute("security.selinux")?.toString("latin1");
  expect(label).toContain("container_file_t");
});
