import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const notLinux = "processes are inspected on Linux only";
const inspect = (pid: string) =>
  spawnSync(process.execPath, [join(import.meta.dirname, "inspect.mjs"), pid], {
    encoding: "utf8",
  });

test("shows a process with everything that isolates it", ({ skip }) => {
  skip(process.platform !== "linux", notLinux);
  const { status, stdout } = inspect(String(process.pid));
  expect(status).toBe(0);
  expect(stdout).toContain(`process ${process.pid} (`);
  for (const title of ["namespaces", "cgroups", "mounts", "device rules"]) {
    expect(stdout).toMatch(new RegExp(`^${title}\n  \\S`, "m"));
  }
});

test("reports a missing process in one line", ({ skip }) => {
  skip(process.platform !== "linux", notLinux);
  expect(inspect("4194303")).toMatchObject({
    status: 1,
    stderr: "inspect: process 4194303 has ended; look it up again\n",
  });
});
