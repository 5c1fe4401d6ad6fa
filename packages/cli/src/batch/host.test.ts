import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { differingCases, oracleCases, withoutOracle } from "../testing/oracle.ts";
import { functions } from "./host.ts";

const cases = oracleCases("host");

test("every recorded answer of KubeVirt is ours too", async ({ skip }) => {
  skip(!cases, withoutOracle);
  expect(await differingCases(cases ?? [])).toEqual([]);
});

test("a request without a list of rules is refused and leaves what was applied", () => {
  const rule = { type: "b", major: 8, minor: 1, permissions: "rwm", allow: true };
  const input = { dir: "/a.scope/container", vmiRules: null, sets: [[rule], null] };
  expect(functions["cgroup-v2-set"]?.(input, {})).toMatchObject({
    applied: [expect.arrayContaining([rule])],
    error: expect.stringContaining("input.sets[1]"),
    paths: { target: "/a.scope/container", parent: "/a.scope" },
  });
});

test("a device of a plugin that cannot be looked at fails the machine, with its path", () => {
  const input = {
    vmi: { spec: { domain: { devices: {} } } },
    files: {
      "/dev/kvm": { type: "char", major: 10, minor: 232 },
      "/dev/vfio/7": { type: "error" },
    },
    host: "node01",
    hypervisorDevice: "kvm",
  };
  expect(functions["cgroup-vmi-rules"]?.(input, { cgroupVersion: "v2" })).toEqual({
    error: expect.stringContaining("/dev/vfio/7"),
    rules: [],
  });
});

const machine = (domain: object, status: object = {}) => ({
  vmi: {
    metadata: { name: "vm" },
    spec: { architecture: "amd64", domain: { devices: {}, ...domain } },
    status,
  },
});
const lockedBytes = (domain: object, status?: object): number => {
  const answer = functions["memlock-size"]?.(machine(domain, status), {});
  return (answer as { bytes: number }).bytes;
};
const requests = { memory: "1M" };

test("the most that a guest can have is locked, else what is requested, else what it has", () => {
  const memory = { guest: "3M", maxGuest: "5M" };
  const nothing = lockedBytes({});
  expect(
    lockedBytes({ memory, resources: { requests } }) - lockedBytes({ resources: { requests } }),
  ).toBe(4_000_000);
  expect(lockedBytes({ memory: { guest: "3M" } }) - nothing).toBe(3_000_000);
  expect(lockedBytes({ memory: { guest: "3M" }, resources: { requests } })).toBe(
    lockedBytes({ resources: { requests } }),
  );
});

test("what the target's Pod was told to need takes the place of our own estimate", () => {
  const status = { migrationState: { targetMemoryOverhead: "300Mi" } };
  expect(functions["memlock-size"]?.(machine({ memory: { guest: "4000" } }, status), {})).toEqual({
    bytes: 300 * 1024 * 1024 + 4000,
    quantity: "314576800",
  });
});

test("a network binding locks nothing", () => {
  const interfaces = [{ name: "a", passtBinding: {} }];
  expect(lockedBytes({ devices: { interfaces } })).toBe(lockedBytes({}));
});

/** Number of koffi's libraries that a process has loaded after running a script. */
function nativeModules(script: string): string {
  const count = `const { sharedObjects } = process.report.getReport();
    console.log(sharedObjects.filter((file) => file.includes("koffi")).length);`;
  const cwd = new URL("../../../../", import.meta.url);
  const args = ["--input-type=module", "-e", script + count];
  return execFileSync(process.execPath, args, { cwd, encoding: "utf8" }).trim();
}

test("answering needs no native module", ({ skip }) => {
  skip(process.platform !== "linux", "the native module is for Linux");
  const answer = `const { functions } = await import("./packages/cli/dist/batch/host.js");
    functions["cgroup-default-rules"]({}, {}); functions["seccomp-profile"]({}, {});`;
  expect(nativeModules(answer)).toBe("0");
  const touch = `const { openRoot } = await import("./packages/host-primitives/dist/safe-path/index.js");
    openRoot("/").close();`;
  expect(nativeModules(touch)).toBe("1");
});
