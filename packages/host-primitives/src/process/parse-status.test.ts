import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseStatus } from "./parse-status.ts";

const text = `Name:	virt launcher: x
Pid:	4321
PPid:	4300
Uid:	107	107	107	107
Gid:	107	107	107	107
NSpid:	4321	17	1
CapInh:	0000000000000000
CapPrm:	0000000000000400
CapEff:	0000000000000400
CapBnd:	000001ffffffffff
CapAmb:	0000000000000400
NoNewPrivs:	1
`;

test("reads the lines that identify a process", () => {
  expect(parseStatus(text)).toMatchObject({
    name: "virt launcher: x",
    parentPid: 4300,
    uids: [107, 107, 107, 107],
    namespacePids: [4321, 17, 1],
    noNewPrivileges: true,
    capabilities: { effective: 0x400n, bounding: 0x1ffffffffffn },
  });
});

test("a kernel without pid namespaces shows the pid itself", () => {
  expect(parseStatus(text.replace(/NSpid.*\n/, "")).namespacePids).toEqual([4321]);
});

test("the error names a missing line", () => {
  expect(() => parseStatus("Name:\tx\n")).toThrow(expect.objectContaining({ path: "PPid" }));
});

test("reads this kernel's own file", ({ skip }) => {
  skip(process.platform !== "linux", "only Linux has /proc");
  expect(parseStatus(readFileSync("/proc/self/status", "utf8")).parentPid).toBe(process.ppid);
});
