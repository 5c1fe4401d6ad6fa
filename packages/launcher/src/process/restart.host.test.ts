import { existsSync, readFileSync } from "node:fs";
import { runProgram } from "@virtkit/lab";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  createSurroundings,
  type LauncherProcess,
  type Surroundings,
  syncRequest,
  until,
} from "../testing/launcher-fixture.ts";

/**
 * A guest whose first process sleeps: it has no power button driver and no agent, so it ignores
 * requests.
 */
const deaf = "rdinit=/bin/sleep -- 1000000";
const patience = { timeout: 100_000 };
const graceSeconds = 7;

let place: Surroundings;
let launcher: LauncherProcess;

/** Processes of the sandbox, which has a pid namespace of its own but is not the launcher's. */
const inside = async (pattern: string): Promise<string> =>
  await place.sandbox.run("pgrep", ["-f", pattern]).then(
    (text) => text.trim(),
    () => "",
  );

beforeAll(async () => {
  place = await createSurroundings();
  const args = ["--grace-period-seconds", `${graceSeconds}`];
  launcher = await place.start({ pid1: false, args });
});

afterAll(async () => await place?.[Symbol.asyncDispose]());

test("a launcher that is killed and restarted finds its guest", async () => {
  const before = await launcher.connect();
  await before.syncVmi(syncRequest(deaf), patience);
  const [guest, daemon] = [
    await inside("qemu-system.*default_demo"),
    await inside("sbin/libvirtd"),
  ];
  expect(guest).toMatch(/^\d+$/);
  launcher.signal("SIGKILL");
  await launcher.exit;
  await before.closed;
  expect(await inside("qemu-system.*default_demo")).toBe(guest);
  launcher = await place.start({
    pid1: false,
    args: ["--grace-period-seconds", `${graceSeconds}`],
  });
  const client = await until("the new launcher answers", async () =>
    launcher.connect().catch(() => undefined),
  );
  onTestFinished(async () => await client.close());
  expect(await client.status()).toMatchObject({ state: "Running" });
  expect(await client.syncVmi(syncRequest(deaf), patience)).toMatchObject({ state: "Running" });
  expect(await inside("qemu-system.*default_demo")).toBe(guest);
  // Two daemons would fight over the same guest.
  const now = await inside("sbin/libvirtd");
  expect(now).toMatch(/^\d+$/);
  expect(now).not.toBe(daemon);
});

test("kills a guest that does not shut down in its grace period", async () => {
  const client = await launcher.connect();
  onTestFinished(async () => await client.close());
  const asked = Date.now();
  launcher.signal("SIGTERM");
  launcher.signal("SIGTERM");
  const seen: string[] = [];
  let marked = false;
  for await (const event of client.events()) {
    if (event.kind !== "status") continue;
    marked ||= event.status.shutdownRequestedAt !== undefined;
    seen.push(`${event.status.state} ${event.status.reason}`);
    if (event.status.state === "Shutoff") break;
  }
  expect(marked).toBe(true);
  expect(Date.now() - asked).toBeGreaterThan(graceSeconds * 1_000 - 500);
  expect(seen.at(-1)).toBe("Shutoff Destroyed");
  await client.delete();
  expect(await launcher.exit).toBe(0);
  expect(readFileSync(place.terminationLog, "utf8")).toMatch(
    /was killed\.\n\{"how":"killed-after-grace"/,
  );
  expect(await inside("qemu-system.*default_demo")).toBe("");
  expect(await inside("sbin/libvirtd")).toBe("");
});

test("a failed launcher says why, and stays if configured to", async () => {
  const args = ["--libvirtd", "/nowhere/libvirtd", "--keep-after-failure"];
  const failing = await place.start({ args });
  await until(
    "the failure",
    () => failing.log().includes("staying after the failure") || undefined,
  );
  const text = readFileSync(place.terminationLog, "utf8");
  expect(text).toMatch(
    /^The launcher failed\. LAUNCHER_LIBVIRTD: \/nowhere\/libvirtd cannot be started/,
  );
  expect(existsSync(failing.socket)).toBe(false);
  failing.signal("SIGTERM");
  expect(await failing.exit).toBe(1);
});

test("does not start as root, or with an invalid command line", async () => {
  const program = new URL("../../bin/virtkit-launcher.js", import.meta.url).pathname;
  const line = ["--name", "a", "--namespace", "b", "--uid", "c", "--pod-uid", "d"];
  const nowhere = ["--termination-message", "/dev/null"];
  await expect(runProgram(process.execPath, [program, ...line, ...nowhere])).rejects.toThrow(
    /start it as uid 107/,
  );
  await expect(runProgram(process.execPath, [program, ...line, "--colour"])).rejects.toThrow(
    /LAUNCHER_OPTION.*--colour/,
  );
});
