import { expect, test } from "vitest";
import { runVirtkit } from "../testing/run-virtkit.ts";

test.each([
  [[], "one of ls, xml, events and stats"],
  [["toString"], "one of ls, xml, events and stats"],
  [["xml"], "one domain"],
  [["xml", "a", "b"], "one domain"],
  [["ls", "a"], "no domain"],
  [["events", "--type", "nope"], "lifecycle"],
  [["events", "--count", "0"], "at least 1"],
  [["stats", "--group", "nope"], "balloon"],
])("wrong usage %j exits 2 and says what to write", async (args, hint) => {
  const { code, out, err } = await runVirtkit(["libvirt", ...args]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(hint);
});

test.each([
  ["qemu+ssh://h/system", "ssh"],
  ["qemu+unix:///system?socket=/nowhere", "no libvirtd at /nowhere"],
])("a daemon that cannot be reached exits 1 and says why: %s", async (uri, hint) => {
  const { code, out, err } = await runVirtkit(["libvirt", "ls", "--connect", uri]);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain(hint);
});
