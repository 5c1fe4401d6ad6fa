import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { added, hostState } from "../testing/host-state.ts";
import { attachCluster } from "./attach-cluster.ts";
import { startCluster } from "./start-cluster.ts";

const child = fileURLToPath(new URL("../testing/cluster-child.mjs", import.meta.url));

/** Processes of this host whose command line names a directory or a host name of a cluster. */
function processesOf(text: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(text);
      } catch {
        // It has ended meanwhile.
        return false;
      }
    });
}

test("two clusters run side by side, and the one that ends leaves the host unchanged", async () => {
  const first = attachCluster();
  const before = await hostState();
  const name = `second-${process.pid}`;
  {
    await using second = await startCluster({ name, nodes: 1 });
    const { layout } = second;
    expect(layout.hostAddress).not.toBe(first.layout.hostAddress);
    const names = async ({ kubectl }: typeof first) =>
      (await kubectl(["get", "nodes", "-o", "name"])).trim();
    expect(await names(first)).toBe("node/node-1\nnode/node-2");
    expect(await names(second)).toBe("node/node-1");
    // Control: as long as it runs, it is seen.
    const running = added(before, await hostState());
    expect(running.some((each) => each.includes(layout.bridge))).toBe(true);
    expect(running.some((each) => each.includes(layout.cgroup))).toBe(true);
    // The kubelet has found what it wants, and the host is unchanged.
    const wanted = ["-n", "kernel.panic", "vm.overcommit_memory"];
    expect(await second.runOnNode("node-1", "sysctl", wanted)).toBe("10\n1\n");
    await expect(startCluster({ name, nodes: 1 })).rejects.toMatchObject({ code: "LAB_IN_USE" });
    const addresses = layout.hostAddress.split(".").slice(0, 2).join(".");
    const other = { name: `third-${process.pid}`, addresses };
    await expect(startCluster(other)).rejects.toMatchObject({ code: "LAB_IN_USE" });
  }
  const after = await hostState();
  expect(added(before, after)).toEqual([]);
  expect(added(after, before)).toEqual([]);
});

test("a cluster ends with its killed owner, and the next start removes what is left", async () => {
  const before = await hostState();
  const name = `killed-${process.pid}`;
  const owner = spawn(process.execPath, [child, name], { stdio: ["ignore", "pipe", "inherit"] });
  const [said] = await Promise.race([once(owner.stdout, "data"), once(owner, "exit")]);
  const directory = String(said).trim();
  expect(existsSync(directory)).toBe(true);
  expect(processesOf(directory).length).toBeGreaterThan(2);
  const exited = once(owner, "exit");
  owner.kill("SIGKILL");
  await exited;
  await expect.poll(() => processesOf(directory)).toEqual([]);
  // Control: processes are gone, the rest is not.
  expect(existsSync(directory)).toBe(true);
  expect(added(before, await hostState())).not.toEqual([]);
  {
    await using again = await startCluster({ name, nodes: 1 });
    expect(again.layout.directory).toBe(directory);
  }
  expect(existsSync(directory)).toBe(false);
  expect(added(before, await hostState())).toEqual([]);
});

test("restarts a program of a node that dies", async () => {
  const cluster = attachCluster();
  const pid = async (program: string): Promise<string> =>
    await cluster.runOnNode("node-1", "cat", [`/opt/node/programs/${program}.pid`]);
  for (const program of ["kube-proxy", "containerd", "kubelet"]) {
    const before = await pid(program);
    await cluster.runOnNode("node-1", "kill", ["-KILL", before.trim()]);
    await expect.poll(() => pid(program)).not.toBe(before);
  }
  const ready = ["wait", "--for=condition=Ready", "node/node-1", "--timeout=60s"];
  await cluster.kubectl(ready, { timeout: 90_000 });
});

test("rejects an impossible cluster before creating anything", async () => {
  await expect(startCluster({ name: "Not A Name" })).rejects.toThrow(/^name: "Not A Name" must be/);
  await expect(startCluster({ nodes: 0 })).rejects.toThrow(/^nodes: 0 must be/);
  await expect(startCluster({ addresses: "10.300" })).rejects.toThrow(/^addresses: "10.300" must/);
  await expect(startCluster({ programs: "/nowhere" })).rejects.toThrow(
    /^programs: \/nowhere has no/,
  );
});
