import { expect, test } from "vitest";
import { type SandboxPlan, sandboxScript } from "./sandbox-script.ts";

const plan: SandboxPlan = {
  root: "/state/root",
  hostname: "demo",
  etc: "/state/etc",
  kept: ["/srv/app"],
  devices: [{ name: "net/tun", major: 10, minor: 200 }],
  mounts: [
    { source: "/state/a", target: "/var/run/kubevirt", readOnly: false, kind: "directory" },
    { source: "/state/s", target: "/var/run/x/secret", readOnly: true, kind: "file" },
  ],
  terminationMessage: "/state/termination-log",
  uid: 107,
  capabilities: ["net_bind_service"],
  env: { HOME: "/tmp" },
  command: ["/usr/bin/node", "launcher.js"],
};
const lines = sandboxScript(plan).split("\n");

test("mounts targets below /var/run below /run, because the link would lead to the host's", () => {
  expect(lines).toContain("mount --rbind '/state/a' './run/kubevirt'");
  expect(lines.filter((line) => line.includes("./var/run"))).toEqual([]);
});

test("makes read-only mounts read-only", () => {
  expect(lines).toContain("mount -o remount,bind,ro './run/x/secret'");
  expect(lines).toContain("mount -o remount,bind,ro './srv/app'");
  expect(lines).not.toContain("mount -o remount,bind,ro './run/kubevirt'");
});

test("the program is the last step, in the new root, as the launcher's user with few privileges", () => {
  const last = lines.at(-1) ?? "";
  expect(lines.indexOf("pivot_root . .old")).toBeGreaterThan(0);
  expect(last).toMatch(/^exec 'setpriv' '--reuid=107' .*'--bounding-set=-all,\+net_bind_service'/);
  expect(last).toMatch(/'HOME=\/tmp' '\/usr\/bin\/node' 'launcher.js'$/);
});

test("treats nothing in a value as a command", () => {
  const text = sandboxScript({ ...plan, hostname: "a'; touch /tmp/owned; '" });
  expect(text).toContain("hostname 'a'\\''; touch /tmp/owned; '\\'''");
});
