import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { functions } from "./host.ts";

test("refuses a request without a list of rules and keeps what was applied", () => {
  const rule = { type: "b", major: 8, minor: 1, permissions: "rwm", allow: true };
  const input = { dir: "/a.scope/container", vmiRules: null, sets: [[rule], null] };
  expect(functions["cgroup-v2-set"]?.(input, {})).toMatchObject({
    applied: [expect.arrayContaining([rule])],
    error: expect.stringContaining("input.sets[1]"),
    paths: { target: "/a.scope/container", parent: "/a.scope" },
  });
});

test("a device of a plugin that cannot be inspected fails the VMI, with its path", () => {
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

const vmiOf = (domain: object, status: object = {}) => ({
  vmi: {
    metadata: { name: "vm" },
    spec: { architecture: "amd64", domain: { devices: {}, ...domain } },
    status,
  },
});
const lockedBytes = (domain: object, status?: object): number => {
  const answer = functions["memlock-size"]?.(vmiOf(domain, status), {});
  return (answer as { bytes: number }).bytes;
};
const requests = { memory: "1M" };

test("locks the most that a guest can have, otherwise the request, otherwise what it has", () => {
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

test("the target Pod's own figure replaces our estimate", () => {
  const status = { migrationState: { targetMemoryOverhead: "300Mi" } };
  expect(functions["memlock-size"]?.(vmiOf({ memory: { guest: "4000" } }, status), {})).toEqual({
    bytes: 300 * 1024 * 1024 + 4000,
    quantity: "314576800",
  });
});

test("a network binding locks nothing", () => {
  const interfaces = [{ name: "a", passtBinding: {} }];
  expect(lockedBytes({ devices: { interfaces } })).toBe(lockedBytes({}));
});

/** Number of koffi's libraries that a process has loaded after running a script on the sources. */
function nativeModules(script: string): string {
  const load = `import { createViteServer } from "vitest/node";
    const conditions = ["@virtkit/source"];
    const server = await createViteServer({
      configFile: false, logLevel: "error", optimizeDeps: { noDiscovery: true }, oxc: { target: "node20" },
      server: { middlewareMode: true, ws: false, watch: null },
      resolve: { conditions }, ssr: { resolve: { conditions } },
    });
    const load = (file) => server.ssrLoadModule(file);`;
  const count = `const { sharedObjects } = process.report.getReport();
    console.log(sharedObjects.filter((file) => file.includes("koffi")).length);
    await server.close();`;
  const cwd = new URL("../../../../", import.meta.url);
  const args = ["--input-type=module", "-e", load + script + count];
  return execFileSync(process.execPath, args, { cwd, encoding: "utf8" }).trim();
}

test("answering needs no native module", ({ skip }) => {
  skip(process.platform !== "linux", "the native module is for Linux");
  const answer = `const { functions } = await load("/packages/conformance/src/areas/host.ts");
    functions["cgroup-default-rules"]({}, {}); functions["seccomp-profile"]({}, {});`;
  expect(nativeModules(answer)).toBe("0");
  const touch = `const { openRoot } = await load("/packages/host-primitives/src/safe-path/index.ts");
    openRoot("/").close();`;
  expect(nativeModules(touch)).toBe("1");
});

test("null lists of a VMI count as empty, and malformed ones are reported with a path", () => {
  const nothing = lockedBytes({});
  expect(lockedBytes({ devices: { gpus: null, interfaces: null } })).toBe(nothing);
  expect(() => lockedBytes({ devices: { interfaces: [null] } })).toThrow(
    expect.objectContaining({ path: "input.vmi.spec.domain.devices.interfaces[0]" }),
  );
});

test.each([
  ["cgroup-v1-set", { request: 7 }, "input.request"],
  ["cgroup-v2-set", { dir: "/a", sets: [[null]] }, "input.sets[0][0]"],
  ["cgroup-v2-set", {}, "input.dir"],
  ["mounts-filter", { child: {}, candidate: { FSType: 7 } }, "input.candidate.FSType"],
  ["selinux-present", { output: 7 }, "input.output"],
  ["cgroup-vmi-rules", { vmi: {}, files: { "/dev/kvm": null } }, 'input.files["/dev/kvm"]'],
])("%s refuses %j with its path", (fn, input, path) => {
  expect(() => functions[fn]?.(input, {})).toThrow(
    expect.objectContaining({ code: "BATCH_BAD_INPUT", path }),
  );
});
