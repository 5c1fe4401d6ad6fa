import { execFileSync } from "node:child_process";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { answerCase, oracleCases } from "../testing/oracle.ts";
import { functions } from "./host.ts";

const cases = oracleCases("host");

test.skipIf(!cases)("every recorded answer of KubeVirt is ours too", async () => {
  const differing: string[] = [];
  for (const recorded of cases ?? []) {
    const answer = await answerCase(recorded);
    if (isDeepStrictEqual(answer, recorded.expected)) continue;
    const [ours, theirs] = [answer, recorded.expected].map((value) => JSON.stringify(value));
    differing.push(`${recorded.name}: ${ours?.slice(0, 300)}, not ${theirs?.slice(0, 300)}`);
  }
  expect(differing).toEqual([]);
});

test("a request without a list of rules is refused and leaves what was applied", () => {
  const rule = { type: "b", major: 8, minor: 1, permissions: "rwm", allow: true };
  const input = { dir: "/a.scope/container", vmiRules: null, sets: [[rule], null] };
  expect(functions["cgroup-v2-set"]?.(input, {})).toMatchObject({
    applied: [expect.arrayContaining([rule])],
    error: "new rules cannot be nil",
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
    error:
      "failed to discover device rules in /dev/vfio: failed to create device rule for /dev/vfio/7: stat failed",
    rules: [],
  });
});

test("answering needs no native module", () => {
  const script = `
    const { functions } = await import("./packages/cli/dist/batch/host.js");
    functions["cgroup-default-rules"]({}, {});
    const { report } = process;
    console.log(report.getReport().sharedObjects.filter((file) => file.includes("koffi")).length);`;
  const root = new URL("../../../../", import.meta.url);
  const arguments_ = ["--input-type=module", "-e", script];
  expect(execFileSync(process.execPath, arguments_, { cwd: root, encoding: "utf8" }).trim()).toBe(
    "0",
  );
});
