import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { ProcessHandle } from "../process/index.ts";
import { background, shell, temporaryDirectory, uniqueName } from "../testing/host-fixtures.ts";
import { applyResources, type Cgroup, openCgroup, openCgroupOf, ownCgroupLayout } from "./index.ts";

const layout = ownCgroupLayout();
const name = uniqueName("cg");
const open: { parent: Cgroup; child: Cgroup }[] = [];

/** A cgroup that belongs to this test, in a v1 hierarchy, below its root. */
function own(controller: string): Cgroup {
  const root = layout.controllers[controller] ?? "";
  const parent = openCgroup({ version: 1, root, path: "/" });
  const child = parent.child(name, { create: true });
  open.push({ parent, child });
  return child;
}

async function removeAll(): Promise<void> {
  for (const { parent, child } of open.splice(0)) {
    child.close();
    // A process that has just ended may still count for a moment.
    for (let attempt = 0; ; attempt++) {
      try {
        parent.removeChild(name);
        break;
      } catch (error) {
        if (attempt > 100) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
    parent.close();
  }
}
afterEach(removeAll);

const without = "this host has no v1 hierarchy with that controller";
const lacks = (...names: string[]): boolean => names.some((each) => !layout.controllers[each]);

test("finds this process in each hierarchy of the host", () => {
  using self = ProcessHandle.open(process.pid);
  const controllers = [
    ...Object.keys(layout.controllers),
    ...(layout.unified ? ["any of v2"] : []),
  ];
  expect(controllers.length).toBeGreaterThan(0);
  for (const controller of controllers) {
    using cgroup = openCgroupOf(self, controller, layout);
    expect(cgroup.processes()).toContain(process.pid);
  }
});

test("limits of CPUs, shares, memory and pids take effect", async ({ skip }) => {
  skip(lacks("cpuset", "cpu", "memory", "pids"), without);
  const cgroups = {
    cpuset: own("cpuset"),
    cpu: own("cpu"),
    memory: own("memory"),
    pids: own("pids"),
  };
  applyResources(cgroups, {
    memoryNodes: [0],
    cpus: [1],
    cpuShares: 512,
    cpuQuota: { quotaUs: 50_000, periodUs: 100_000 },
    memoryMaxBytes: 64 * 1024 * 1024,
    pidsMax: 3,
  });
  expect(cgroups.cpu.read("cpu.shares")).toBe("512");
  expect(cgroups.cpu.read("cpu.cfs_quota_us")).toBe("50000");
  expect(cgroups.memory.read("memory.limit_in_bytes")).toBe("67108864");

  const allowed = await shell("grep Cpus_allowed_list /proc/self/status", {
    cgroups: [cgroups.cpuset],
  });
  expect(allowed.output).toMatch(/\t1$/);
  const few = await shell("sleep 1 & sleep 1 & sleep 1 & sleep 1 & wait", {
    cgroups: [cgroups.pids],
  });
  expect(few.output).toMatch(/fork/i);
  const hungry = await shell("head -c 200m /dev/zero | tail | wc -c", {
    cgroups: [cgroups.memory],
  });
  expect(hungry.output).not.toContain("209715200");
});

test("a frozen process stops until it is thawed", async ({ skip }) => {
  skip(lacks("freezer"), without);
  const cgroup = own("freezer");
  const stateAfter = (frozen: boolean): string => {
    applyResources({ freezer: cgroup }, { frozen });
    return cgroup.read("freezer.state");
  };
  await using child = await background("sh", ["-c", "echo ready; while :; do sleep 0.01; done"]);
  // Before the child ends, whatever fails: a frozen process cannot be killed.
  using _thawed = { [Symbol.dispose]: () => void stateAfter(false) };
  cgroup.addProcess(child.pid);
  expect(cgroup.processes()).toContain(child.pid);
  await expect.poll(() => stateAfter(true), { timeout: 30_000 }).toBe("FROZEN");
  expect(stateAfter(false)).toBe("THAWED");
});

test("the error names the file and the value that the kernel refuses", ({ skip }) => {
  skip(lacks("pids"), without);
  const cgroup = own("pids");
  expect(() => cgroup.write("pids.max", "many")).toThrow(
    expect.objectContaining({
      errno: "EINVAL",
      syscall: "write",
      path: expect.stringContaining('pids.max = "many"'),
    }),
  );
  expect(() => cgroup.write("../tasks", "1")).toThrow(
    expect.objectContaining({ code: "HOST_PATH_UNSAFE" }),
  );
});

test("a cgroup path with .. or a link cannot leave the hierarchy", () => {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "hierarchy/pod"), { recursive: true });
  mkdirSync(join(directory.path, "outside"));
  symlinkSync("../outside", join(directory.path, "hierarchy/link"));
  const root = join(directory.path, "hierarchy");
  openCgroup({ version: 2, root, path: "/pod" }).close();
  expect(() => openCgroup({ version: 2, root, path: "/../outside" })).toThrow(
    expect.objectContaining({ code: "HOST_PATH_UNSAFE" }),
  );
  expect(() => openCgroup({ version: 2, root, path: "/link" })).toThrow(
    expect.objectContaining({ errno: "ELOOP" }),
  );
  // Control: a path that is joined as a string leads out, both ways.
  for (const path of ["/../outside", "/link"]) {
    writeFileSync(join(root, path, "cgroup.procs"), path);
    expect(readFileSync(join(directory.path, "outside/cgroup.procs"), "utf8")).toBe(path);
  }
});
