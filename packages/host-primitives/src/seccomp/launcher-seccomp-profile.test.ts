import { expect, test } from "vitest";
import { launcherSeccompProfile } from "./launcher-seccomp-profile.ts";

const { syscalls, defaultErrnoRet } = launcherSeccompProfile();
const unconditional = (action: string): string[] =>
  syscalls
    .filter((rule) => rule.action === action && rule.args?.length === 0)
    .filter(({ includes, excludes }) => !includes.caps && !includes.arches && !excludes.caps)
    .flatMap(({ names }) => [...names]);

test("post-copy migration is possible: userfaultfd is allowed and refused by no rule", () => {
  expect(unconditional("SCMP_ACT_ALLOW")).toContain("userfaultfd");
  expect(unconditional("SCMP_ACT_ERRNO")).not.toContain("userfaultfd");
});

test("no call is both allowed and refused without condition, or listed twice", () => {
  const allowed = unconditional("SCMP_ACT_ALLOW");
  const refused = unconditional("SCMP_ACT_ERRNO");
  expect(allowed.filter((name) => refused.includes(name))).toEqual([]);
  expect(new Set(allowed).size).toBe(allowed.length);
});

test("what needs a capability is refused without it", () => {
  for (const name of ["chroot", "init_module", "open_by_handle_at", "clock_settime"]) {
    const rules = syscalls.filter(({ names }) => names.includes(name));
    expect(rules.some(({ includes }) => includes.caps)).toBe(true);
    expect(rules.some(({ excludes, errnoRet }) => excludes.caps && errnoRet === 1)).toBe(true);
    expect(unconditional("SCMP_ACT_ALLOW")).not.toContain(name);
  }
});

test("an unknown call does not exist", () => {
  expect(defaultErrnoRet).toBe(38);
});
