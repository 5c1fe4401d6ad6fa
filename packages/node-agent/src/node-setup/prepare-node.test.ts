import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clusterConfig } from "@virtkit/api/config";
import { launcherSeccompProfile } from "@virtkit/host-primitives/seccomp";
import { expect, onTestFinished, test } from "vitest";
import { postCopySupport } from "./post-copy-support.ts";
import { prepareNode } from "./prepare-node.ts";

function nodeRoot(unprivileged: string): string {
  const root = mkdtempSync("/tmp/node-");
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "proc/sys/vm"), { recursive: true });
  writeFileSync(join(root, "proc/sys/vm/unprivileged_userfaultfd"), unprivileged);
  return root;
}

test("writes the profile once, where Pods name it, and restores it if it was changed", () => {
  const root = nodeRoot("0");
  const config = clusterConfig();
  const path = join(root, "var/lib/kubelet/seccomp/kubevirt/kubevirt.json");
  expect(prepareNode({ config, root }).seccompProfile).toBe("written");
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(
    JSON.parse(JSON.stringify(launcherSeccompProfile())),
  );
  const { ino } = statSync(path);
  expect(prepareNode({ config, root }).seccompProfile).toBe("unchanged");
  expect(statSync(path).ino).toBe(ino);
  writeFileSync(path, "{}");
  expect(prepareNode({ config, root }).seccompProfile).toBe("written");
  const developerConfiguration = { disabledFeatureGates: ["KubevirtSeccompProfile"] };
  const without = clusterConfig({ developerConfiguration });
  expect(prepareNode({ config: without, root })).not.toHaveProperty("seccompProfile");
});

test("labels devices of the node, not those of the agent's container", () => {
  const developerConfiguration = { disabledFeatureGates: ["KubevirtSeccompProfile"] };
  const config = clusterConfig({ developerConfiguration });
  const label = (root: string): readonly string[] => [`${root}/dev/null`];
  expect(prepareNode({ config, label }).labelled).toEqual(["/proc/1/root/dev/null"]);
  const root = nodeRoot("0");
  expect(prepareNode({ config, label, root }).labelled).toEqual([`${root}/dev/null`]);
});

test("allows userfaultfd only if asked to and post-copy is allowed; otherwise reports it", () => {
  const root = nodeRoot("0\n");
  const sysctl = (): string =>
    readFileSync(join(root, "proc/sys/vm/unprivileged_userfaultfd"), "utf8");
  const config = clusterConfig({ migrations: { allowPostCopy: true } });
  const warned: unknown[] = [];
  const log = { warn: (...said: unknown[]) => warned.push(said) };
  const report = prepareNode({ config, root, log: log as never });
  expect(report.postCopy).toMatchObject({ supported: false });
  expect(warned).toHaveLength(1);
  expect(
    prepareNode({ config: clusterConfig(), root, allowUserfaultfd: true }).postCopy.supported,
  ).toBe(false);
  expect(sysctl()).toBe("0\n");
  expect(prepareNode({ config, root, allowUserfaultfd: true }).postCopy.supported).toBe(true);
  expect(sysctl()).toBe("1");
});

test("warns if the migration network of the configuration does not reach this Pod", () => {
  const root = nodeRoot("1");
  const config = clusterConfig({ migrations: { network: "moves" } });
  const warned: unknown[] = [];
  const log = { warn: (_: unknown, text: string) => warned.push(text) } as never;
  const own = { ...{ netmask: "", mac: "", internal: false, cidr: null }, family: "IPv4" as const };
  prepareNode({
    config,
    root,
    log,
    interfaces: { migration0: [{ ...own, address: "192.0.2.9" }] },
  });
  expect(warned).toEqual([]);
  prepareNode({ config, root, log, interfaces: { eth0: [{ ...own, address: "10.0.0.7" }] } });
  expect(warned).toEqual([expect.stringMatching(/network moves .* migration0 .* is missing/)]);
});

test.each([
  ["open to everyone", { unprivileged: "1" }, true],
  [
    "its device belongs to the user",
    { unprivileged: "0", device: { mode: 0o20600, uid: 107, gid: 0 } },
    true,
  ],
  [
    "its device is open to everyone",
    { unprivileged: "0", device: { mode: 0o20666, uid: 0, gid: 0 } },
    true,
  ],
  [
    "its device belongs to root",
    { unprivileged: "0", device: { mode: 0o20600, uid: 0, gid: 0 } },
    false,
  ],
  ["restricted, and without a device", { unprivileged: "0" }, false],
  ["not supported by the kernel", {}, false],
])("userfaultfd: %s", (_, facts, supported) => {
  expect(postCopySupport(facts)).toMatchObject({ supported });
});
