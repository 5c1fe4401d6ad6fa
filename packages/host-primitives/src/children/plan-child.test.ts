import { expect, test } from "vitest";
import { type ChildSpec, planChild } from "./plan-child.ts";

const line = (spec: ChildSpec): string => {
  const { command, args } = planChild(spec);
  return [command, ...args].join(" ");
};

test("a plain child only loses the way to new privileges", () => {
  expect(line({ command: "true", args: ["-x"] })).toBe("setpriv --no-new-privs -- true -x");
  expect(line({ command: "true", noNewPrivileges: false })).toBe("true");
});

test("another user has no groups and only the capabilities that are named", () => {
  expect(line({ command: "p", uid: 107, gid: 108, capabilities: ["net_bind_service"] })).toBe(
    "setpriv --reuid=107 --regid=108 --clear-groups --inh-caps=-all,+net_bind_service --ambient-caps=-all,+net_bind_service --bounding-set=-all,+net_bind_service --no-new-privs -- p",
  );
  expect(line({ command: "p", uid: 107, groups: [5, 6] })).toContain("--groups=5,6");
});

test("limits, score, namespaces and cgroups are set before privileges are dropped", () => {
  const spec: ChildSpec = {
    command: "p",
    uid: 107,
    limits: { memlock: "unlimited", nofile: { soft: 10, hard: 20 } },
    oomScoreAdjust: 500,
    join: { network: "/proc/1/fd/9" },
    create: ["ipc", "pid"],
    cgroups: ["/proc/1/fd/8"],
  };
  const { args } = planChild(spec);
  const order = ["choom", "prlimit", "nsenter", "unshare", "setpriv"].map((name) =>
    args.indexOf(name),
  );
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(line(spec)).toContain(
    "choom -n 500 -- prlimit --memlock=unlimited:unlimited --nofile=10:20 --",
  );
  expect(line(spec)).toContain(
    "nsenter --net=/proc/1/fd/9 -- unshare --ipc --pid --fork --kill-child --",
  );
  expect(line(spec)).toContain("sh /proc/1/fd/8 -- choom");
});

test("sets the SELinux context for the program itself", () => {
  const selinuxContext = "system_u:system_r:container_t:s0:c1,c2";
  expect(line({ command: "p", selinuxContext })).toBe(
    `setpriv --selinux-label=${selinuxContext} --no-new-privs -- p`,
  );
  expect(() => planChild({ command: "p", selinuxContext: "odd" })).toThrow(
    /not an SELinux context/,
  );
});

test("changes the root last, together with the user", () => {
  expect(line({ command: "/p", uid: 107, gid: 107, capabilities: [], root: "/proc/1/fd/7" })).toBe(
    "setpriv --inh-caps=-all --bounding-set=-all,+setuid,+setgid,+sys_chroot,+sys_admin,+sys_ptrace --no-new-privs -- nsenter --root=/proc/1/fd/7 --wd=/proc/1/fd/7 --setgid=107 --setuid=107 -- /p",
  );
  expect(line({ command: "/p", join: { mount: "/proc/1/fd/6" } })).toMatch(
    /nsenter --mount=\/proc\/1\/fd\/6 -- \/p$/,
  );
});

test.each<[Partial<ChildSpec>, string]>([
  [{ command: "-x" }, "command"],
  [{ command: "" }, "command"],
  [{ oomScoreAdjust: 1001 }, "oomScoreAdjust"],
  [{ uid: -1 }, "uid, gid or groups"],
  [{ capabilities: ["+all"] }, "capabilities"],
  [{ limits: { nofile: 1.5 } }, "limits.nofile"],
  [{ root: "/r", uid: 107, capabilities: ["net_admin"] }, "capabilities"],
  [{ root: "/r", capabilities: [] }, "capabilities"],
  [{ root: "/r", groups: [1] }, "groups"],
  [{ root: "/r", selinuxContext: "u:r:t" }, "selinuxContext"],
  [{ root: "/r", uid: 107, capabilities: [], noNewPrivileges: false }, "noNewPrivileges"],
])("rejects %j", (changes, path) => {
  expect(() => planChild({ command: "p", ...changes })).toThrow(expect.objectContaining({ path }));
});
