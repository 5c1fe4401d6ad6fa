import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const bind = (...args: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, "bind.mjs"), ...args], {
    encoding: "utf8",
  });

test.each(["masquerade", "bridge"])("wires %s and undoes it", (binding) => {
  const { status, stdout, stderr } = bind(binding);
  expect(stderr).toBe("");
  expect(status).toBe(0);
  expect(stdout).toMatch(/^plan\nlink-add k6t-eth0 type bridge/);
  expect(stdout).toMatch(/^result\n[\s\S]*k6t-eth0[\s\S]*^after the undo\n/m);
  expect(stdout.split("after the undo")[1]).not.toContain("k6t-eth0");
  expect(stdout).toContain("the namespace is as it was found\ntrue");
});

test("refuses another binding with the usage", () => {
  expect(bind("slirp")).toMatchObject({ status: 2, stderr: expect.stringContaining("usage:") });
});
