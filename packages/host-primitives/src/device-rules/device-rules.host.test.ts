import { symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Cgroup, openCgroup, ownCgroupLayout } from "../cgroups/index.ts";
import {
  createFile,
  makeDirectory,
  makeNode,
  openRoot,
  type SafePath,
} from "../safe-path/index.ts";
import { shell, temporaryDirectory, uniqueName } from "../testing/host-fixtures.ts";
import {
  type DeviceRule,
  defaultDeviceRules,
  formatDeviceRule,
  launcherDeviceRules,
  listDeviceFilters,
  parseDevicesList,
  removeDeviceFilter,
  safeDeviceDirectory,
  setDeviceFilter,
  setV1DeviceRules,
} from "./index.ts";

const layout = ownCgroupLayout();
const name = uniqueName("dev");
const versions = (["v1", "v2"] as const).filter((version) =>
  version === "v1" ? layout.controllers["devices"] : layout.unified,
);
const without = (version: string): string => `this host has no ${version} hierarchy for devices`;
let parents: Record<"v1" | "v2", Cgroup>;
let cgroups: Record<"v1" | "v2", Cgroup>;

beforeEach(({ skip }) => {
  skip(!versions.includes("v2"), without("v2"));
  const { controllers, unified = "" } = layout;
  const roots = { v1: controllers["devices"] ?? "", v2: unified };
  [parents, cgroups] = [{}, {}] as [typeof parents, typeof cgroups];
  for (const version of versions) {
    const place = { version: version === "v1" ? 1 : 2, root: roots[version], path: "/" } as const;
    parents[version] = openCgroup(place);
    cgroups[version] = parents[version].child(name, { create: true });
  }
});
afterEach(async () => {
  for (const version of versions) {
    cgroups[version].close();
    await expect
      .poll(() => parents[version].removeChild(name) ?? true, { timeout: 30_000 })
      .toBe(true);
    parents[version].close();
  }
});

const allow = (major: number, minor: number, permissions = "rwm"): DeviceRule => ({
  type: "c",
  major,
  minor,
  permissions,
  allow: true,
});
const [nul, zero, full] = [allow(1, 3), allow(1, 5), allow(1, 7)];

/** Which of these devices a process in the cgroup can open. */
async function usable(cgroup: Cgroup): Promise<string[]> {
  const { output } = await shell(
    `for d in null zero full; do ( : < /dev/$d ) 2>/dev/null && echo $d; done; true`,
    { cgroups: [cgroup] },
  );
  return output.split("\n").filter((line) => line !== "");
}

test("a process is denied a device that no rule allows: v1", async ({ skip }) => {
  skip(!versions.includes("v1"), without("v1"));
  expect(await usable(cgroups.v1)).toEqual(["null", "zero", "full"]);
  setV1DeviceRules(cgroups.v1, [nul, zero]);
  expect(await usable(cgroups.v1)).toEqual(["null", "zero"]);
  setV1DeviceRules(cgroups.v1, [nul, full]);
  expect(await usable(cgroups.v1)).toEqual(["null", "full"]);
  expect(parseDevicesList(cgroups.v1.read("devices.list"))).toEqual([nul, full]);
  const denied = await shell("cat /dev/zero", { cgroups: [cgroups.v1] });
  expect(denied.output).toMatch(/Operation not permitted/);
});

test("a process is denied a device that no rule allows: v2", async () => {
  expect(await usable(cgroups.v2)).toEqual(["null", "zero", "full"]);
  setDeviceFilter(cgroups.v2, [nul, zero]);
  expect(await usable(cgroups.v2)).toEqual(["null", "zero"]);
  const denied = await shell("cat /dev/full", { cgroups: [cgroups.v2] });
  expect(denied.output).toMatch(/Operation not permitted/);
  setDeviceFilter(cgroups.v2, [...defaultDeviceRules("v2"), full]);
  expect(await usable(cgroups.v2)).toEqual(["null", "full"]);
  expect(removeDeviceFilter(cgroups.v2)).toBe(true);
  expect(removeDeviceFilter(cgroups.v2)).toBe(false);
  expect(await usable(cgroups.v2)).toEqual(["null", "zero", "full"]);
});

test("checks each letter: a device that may be read may not be written", async () => {
  setDeviceFilter(cgroups.v2, [nul, allow(1, 5, "r")]);
  const read = await shell("head -c 1 /dev/zero | wc -c", { cgroups: [cgroups.v2] });
  expect(read.output).toBe("1");
  const written = await shell("echo > /dev/zero", { cgroups: [cgroups.v2] });
  expect(written.output).toMatch(/not permitted/);
});

test("replaces our filter; other filters stay and still count", async () => {
  const other = "runtime_filter";
  setDeviceFilter(cgroups.v2, [nul, zero], { name: other });
  setDeviceFilter(cgroups.v2, [nul, zero, full]);
  const before = listDeviceFilters(cgroups.v2);
  expect(before.map((filter) => filter.name).sort()).toEqual([other, "virtkit_devices"]);
  setDeviceFilter(cgroups.v2, [nul, full]);
  const after = listDeviceFilters(cgroups.v2);
  const idOf = (filters: typeof before, filter: string) =>
    filters.find((f) => f.name === filter)?.id;
  expect(after).toHaveLength(2);
  expect(idOf(after, other)).toBe(idOf(before, other));
  expect(idOf(after, "virtkit_devices")).not.toBe(idOf(before, "virtkit_devices"));
  expect(await usable(cgroups.v2)).toEqual(["null"]);
});

test("takes over the container runtime's filter only on request", async () => {
  setDeviceFilter(cgroups.v2, [nul], { name: "runtime_filter" });
  const [runtime] = listDeviceFilters(cgroups.v2);
  setDeviceFilter(cgroups.v2, [nul, zero], { takeOver: runtime?.id ?? 0 });
  expect(listDeviceFilters(cgroups.v2).map((filter) => filter.name)).toEqual(["virtkit_devices"]);
  expect(await usable(cgroups.v2)).toEqual(["null", "zero"]);
});

/** What a process that keeps opening an allowed device sees while rules are updated. */
async function whileUpdating(
  cgroup: Cgroup,
  update: (round: number) => void,
): Promise<Set<string>> {
  const script =
    "for i in $(seq 1500); do ( : < /dev/zero ) 2>/dev/null || echo denied; done; echo end";
  const child = shell(script, { cgroups: [cgroup] });
  let finished = false;
  const outcome = child.finally(() => {
    finished = true;
  });
  for (let round = 0; !finished; ) {
    for (let burst = 0; burst < 20; burst++) update(round++);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return new Set((await outcome).output.split("\n"));
}

const alternating = (round: number): DeviceRule[] => (round % 2 ? [nul, zero] : [full, nul, zero]);

test("never denies an allowed device while rules are replaced over and over: v2", async () => {
  const { v2 } = cgroups;
  setDeviceFilter(v2, alternating(0));
  const seen = await whileUpdating(v2, (round) => setDeviceFilter(v2, alternating(round)));
  expect([...seen]).toEqual(["end"]);
});

test("never denies an allowed device while rules are replaced over and over: v1", async ({
  skip,
}) => {
  skip(!versions.includes("v1"), without("v1"));
  const { v1 } = cgroups;
  setV1DeviceRules(v1, alternating(0));
  const seen = await whileUpdating(v1, (round) => setV1DeviceRules(v1, alternating(round)));
  expect([...seen]).toEqual(["end"]);

  // Control: withdrawing everything and granting it again is noticed.
  const naive = await whileUpdating(v1, (round) => {
    v1.write("devices.deny", "a");
    for (const rule of alternating(round)) v1.write("devices.allow", formatDeviceRule(rule));
  });
  expect([...naive]).toContain("denied");
});

test("reads the rules for a launcher's devices from its own file system", () => {
  using directory = temporaryDirectory();
  using root = openRoot(directory.path);
  using top = root.directory();
  using dev = makeDirectory(top, "dev");
  using vfio = makeDirectory(dev, "vfio");
  const node = (
    parent: SafePath,
    path: string,
    type: "char" | "block",
    major: number,
    minor: number,
  ) => makeNode(parent, path, { type, device: { major, minor } }).close();
  node(dev, "kvm", "char", 10, 232);
  node(dev, "disk0", "block", 8, 16);
  node(vfio, "42", "char", 240, 1);
  createFile(vfio, "readme", "no device");
  const devices = { volumes: ["disk0", "files"], hypervisor: "kvm", version: "v2" } as const;
  const rules = () => launcherDeviceRules(devices, safeDeviceDirectory(root));
  expect(rules().map(({ type, major, minor }) => [type, major, minor])).toEqual([
    ["b", 8, 16],
    ["c", 10, 232],
    ["c", 240, 1],
  ]);
  symlinkSync("/dev/sda", `${directory.path}/dev/files`);
  expect(rules).toThrow(expect.objectContaining({ code: "HOST_PATH_UNSAFE" }));
});

test("a v1 cgroup has no filter", ({ skip }) => {
  skip(!versions.includes("v1"), without("v1"));
  expect(() => setDeviceFilter(cgroups.v1, [])).toThrow(/v1 cgroup/);
});
