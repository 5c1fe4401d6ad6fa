import { expect, test } from "vitest";
import { launcherSeccompProfile } from "./launcher-seccomp-profile.ts";

const { syscalls, defaultErrnoRet } = launcherSeccompProfile();
const unconditional = (action: string): string[] =>
  syscalls
    .filter((rule) => rule.action === action && rule.args?.length === 0)
    .filter(({ includes, excludes }) => !includes.caps && !includes.arches && !excludes.caps)
    .flatMap(({ names }) => [...names]);

test("allows userfaultfd in every case, so post-copy migration is possible", () => {
  expect(unconditional("SCMP_ACT_ALLOW")).toContain("userfaultfd");
  expect(unconditional("SCMP_ACT_ERRNO")).not.toContain("userfaultfd");
});

test("never lists a call twice, or both allows and refuses it unconditionally", () => {
  const allowed = unconditional("SCMP_ACT_ALLOW");
  const refused = unconditional("SCMP_ACT_ERRNO");
  expect(allowed.filter((name) => refused.includes(name))).toEqual([]);
  expect(new Set(allowed).size).toBe(allowed.length);
});

test("refuses calls without the capability that they need", () => {
  for (const name of ["chroot", "init_module", "open_by_handle_at", "clock_settime"]) {
    const rules = syscalls.filter(({ names }) => names.includes(name));
    expect(rules.some(({ includes }) => includes.caps)).toBe(true);
    expect(rules.some(({ excludes, errnoRet }) => excludes.caps && errnoRet === 1)).toBe(true);
    expect(unconditional("SCMP_ACT_ALLOW")).not.toContain(name);
  }
});

test("an unknown call fails with ENOSYS", () => {
  expect(defaultErrnoRet).toBe(38);
});
