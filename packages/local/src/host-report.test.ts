import { expect, test } from "vitest";
import { kvmCheck, limitsCheck, memoryCheck, nodeCheck, tunCheck } from "./host-report.ts";

test.each([
  ["20.19.0", "ok"],
  ["22.1.0", "ok"],
  ["20.18.9", "missing"],
  ["18.20.0", "missing"],
] as const)("Node %s is %s", (version, state) => {
  expect(nodeCheck(version).state).toBe(state);
});

test("TAP devices need the kernel's driver", () => {
  expect(tunCheck("232 kvm\n200 tun\n")).toMatchObject({ state: "ok" });
  expect(tunCheck("232 kvm\n")).toMatchObject({ state: "missing", fix: "modprobe tun" });
});

test("reports too little memory with the amount", () => {
  expect(memoryCheck("MemAvailable:     524288 kB\n")).toMatchObject({
    state: "missing",
    found: "512 MiB available",
  });
  expect(memoryCheck("MemAvailable:    8388608 kB\n").state).toBe("ok");
});

test("reports what helps if VMIs are slow without KVM", () => {
  expect(kvmCheck({ usable: true, reason: "a guest ran" }).state).toBe("ok");
  expect(kvmCheck({ usable: false, reason: "there is no /dev/kvm" }).fix).toContain("modprobe");
  expect(kvmCheck({ usable: false, reason: "it hangs" }).fix).toContain("--accel tcg");
});

test("names a missing controller, and how to enable it", () => {
  expect(limitsCheck({ cpu: 1, memory: 2, pids: 2 })).toMatchObject({
    state: "ok",
    found: "cpu (v1), memory (v2), pids (v2)",
  });
  expect(limitsCheck({ cpu: 2, pids: 2 })).toMatchObject({
    state: "missing",
    found: "cpu (v2), pids (v2), no memory",
    fix: expect.stringContaining("cgroup_enable=memory"),
  });
});
