import {
  appendFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@virtkit/api/clock";
import { expect, onTestFinished, test } from "vitest";
import { keepLogsSmall } from "./log-keeper.ts";

const limits = { mostBytes: 1000, keptBytes: 100 };
const flood = "a line of the guest\n".repeat(100);

function temporary(): string {
  const path = mkdtempSync(join(tmpdir(), "virtkit-keeper-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("trims the launcher's log and those of TPM emulators once a second, and no others", async () => {
  const folder = temporary();
  const [own, tpm, qemu] = ["launcher.log", "default_demo-swtpm.log", "default_demo.log"].map(
    (name) => join(folder, name),
  ) as [string, string, string];
  for (const file of [own, tpm, qemu]) writeFileSync(file, "");
  const clock = new ManualClock();
  const keeper = keepLogsSmall({ own: [openSync(own, "a+")], folder, limits, clock });
  for (let second = 0; second < 5; second++) {
    for (const file of [own, tpm, qemu]) appendFileSync(file, flood);
    await clock.pass(1_000);
    expect(statSync(own).size).toBeLessThanOrEqual(limits.mostBytes);
    expect(statSync(tpm).size).toBeLessThanOrEqual(limits.mostBytes);
  }
  // Control: virtlogd's, which this one leaves alone.
  expect(statSync(qemu).size).toBe(5 * flood.length);
  keeper[Symbol.dispose]();
  appendFileSync(own, flood);
  await clock.pass(5_000);
  expect(statSync(own).size).toBeGreaterThan(flood.length);
});

test("does not follow a link in the folder, and ignores a missing folder", async () => {
  const folder = temporary();
  const victim = join(temporary(), "victim");
  writeFileSync(victim, flood);
  symlinkSync(victim, join(folder, "x-swtpm.log"));
  const clock = new ManualClock();
  using _keeper = keepLogsSmall({ own: [], folder, limits, clock });
  using _other = keepLogsSmall({ own: [], folder: join(folder, "none"), limits, clock });
  await clock.pass(2_000);
  expect(readFileSync(victim, "utf8")).toBe(flood);
});
