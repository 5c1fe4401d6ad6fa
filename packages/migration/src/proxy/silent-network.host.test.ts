import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { defaultLimits } from "./proxy-limits.ts";
import { uid } from "./testing/proxy-fixture.ts";

const program = fileURLToPath(new URL("../testing/silent-network-child.mjs", import.meta.url));
/** Longer than a keep-alive of 15 s takes, with ten probes, one per second. */
const cut = 30_000;
const short = 12_000;
/** The proxies allow ten seconds, in which TCP tries to connect for the last time after 7; then after 11, or 15 before Linux 6.5. */
const openings = [5_000, 8_000] as const;

test("streams survive a silent network for as long as the stall limit, and no longer; new ones open if it is silent for five seconds", async () => {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-silent-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const child = spawn("unshare", ["--net", process.execPath, program], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const { stall } = defaultLimits;
  child.send({ uid, directory, stalls: [stall, short], naive: 15_000, cut, openings });
  const [told] = await once(child, "message");
  const isShort: unknown = expect.closeTo(short, -3.5);
  expect(told).toEqual({
    outcome: {
      [`control, ${stall}`]: "goes on",
      [`data, ${stall}`]: "goes on",
      [`control, ${short}`]: isShort,
      [`data, ${short}`]: isShort,
      // Control: what a keep-alive does that does not know the limit.
      naive: expect.closeTo(25_000, -3.5),
    },
    opened: {
      ...{ "control, 5000": true, "data, 5000": true },
      // Control: an opening that takes longer than the proxies allow.
      ...{ "control, 8000": false, "data, 8000": false },
    },
  });
}, 120_000);
