import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { guestPackages, packageInGuest, runInGuest } from "@virtkit/lab";
import { beforeAll, describe, expect, test } from "vitest";
import { runTool } from "./run-tool.ts";

const packages = fileURLToPath(new URL("../..", import.meta.url));
const program = fileURLToPath(new URL("./testing/limit-attacks.mjs", import.meta.url));
const moduleFile = "local/dist/local-cgroup.js";

/** What the program of attacks prints; see there. */
interface Measured {
  readonly unified: boolean;
  readonly cpu: Record<"limited" | "free", { share: number; throttled: number; quota: string }>;
  readonly pids: Record<
    "limited" | "free",
    { processes: number; refused: boolean; hostForks: boolean; max: string }
  >;
  readonly memory: Record<"limited" | "free", { end: number | string; max: string }>;
}

async function onThisHost(): Promise<Measured> {
  const stdout = await runTool(process.execPath, [program, join(packages, moduleFile)], {
    timeout: 200_000,
  });
  return JSON.parse(stdout) as Measured;
}

/** A guest whose init mounts the hierarchy of version 2 and nothing else. */
async function onVersion2(): Promise<Measured> {
  const built = ["api", "host-primitives", "node-agent", "local"].map((name) =>
    packageInGuest(join(packages, name)),
  );
  const output = await runInGuest({
    node: true,
    memoryMiB: 1280,
    // A guard against hanging: an emulated guest starts Node, and the host may be busy.
    timeout: 400_000,
    script: `
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mount -t cgroup2 none /sys/fs/cgroup
exec node /${guestPackages}/limit-attacks.mjs /${guestPackages}/node_modules/@virtkit/${moduleFile}
`,
    files: [
      ...(await Promise.all(built)).flat(),
      { path: `${guestPackages}/limit-attacks.mjs`, kind: "file", data: await readFile(program) },
    ],
  });
  return JSON.parse(output.split("\n").at(-1) ?? "") as Measured;
}

describe.each([
  { where: "this host", measure: onThisHost, unified: existsSync("/sys/fs/cgroup/cgroup.procs") },
  { where: "a guest with only cgroup v2", measure: onVersion2, unified: true },
])("on $where", ({ measure, unified }) => {
  let measured: Measured;
  beforeAll(async () => {
    measured = await measure();
  }, 420_000);

  test("the hierarchy is the one to be tested", () => {
    expect(measured.unified).toBe(unified);
  });

  test("endless loops get only their CPU quota", () => {
    const { limited, free } = measured.cpu;
    expect(limited.quota).toMatch(/^10000( 100000)?$/);
    expect(limited.throttled).toBeGreaterThan(0);
    // A tenth, plus what one period gave before the first look.
    expect(limited.share).toBeLessThan(0.15);
    // Control: nothing else holds them back, however busy the host is.
    expect(free.throttled).toBe(0);
    expect(free.share).toBeGreaterThan(0.15);
  });

  test("endless forks stop at the limit, and the host can still fork", () => {
    const { limited, free } = measured.pids;
    expect(limited).toMatchObject({ refused: true, hostForks: true, max: "40" });
    expect(limited.processes).toBeLessThanOrEqual(40);
    expect(limited.processes).toBeGreaterThan(30);
    expect(free.refused).toBe(false);
    expect(free.processes).toBeGreaterThan(100);
  });

  test("kills a program that takes more memory than the limit", () => {
    const { limited, free } = measured.memory;
    expect(limited).toEqual({ end: "SIGKILL", max: String(128 << 20) });
    expect(free.end).toBe(9);
  });
});
