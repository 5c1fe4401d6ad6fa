import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { DemoHost, until } from "../testing/demo-host.ts";

let host: DemoHost;

beforeAll(async () => {
  host = await DemoHost.make();
});

afterEach(async () => {
  await host.virtkit("rm", "--now", "demo");
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
});

/** Runs a command in the guest's shell, as root on its console. */
async function type(command: string): Promise<void> {
  const console = host.start("console", "demo");
  await console.untilSaid(/Ctrl-\] to leave/);
  console.type(`${command}\r`);
  // It closes with the guest.
  await console.end();
}

/** Only the first two need what runs in the guest, so only they wait until it has booted. */
const ends: readonly [string, string, number, RegExp, () => Promise<void>][] = [
  ["powers itself off", "PoweredOff", 0, /powered itself off/, () => type("poweroff -f")],
  [
    "is stopped",
    "Stopped",
    0,
    /as requested|killed/,
    () => host.virtkit("stop", "demo").then(() => {}),
  ],
  ["has its QEMU killed", "Killed", 1, /QEMU was killed with SIGKILL/, () => signal("SIGKILL")],
  ["has its QEMU told to end", "Killed", 1, /QEMU was ended by a signal/, () => signal("SIGTERM")],
  ["has its QEMU crash", "Crashed", 1, /QEMU crashed \(SIGSEGV\)/, () => signal("SIGSEGV")],
  ["has its launcher killed", "Killed", 1, /launcher was killed/, () => killLauncher()],
];

async function killLauncher(): Promise<void> {
  process.kill(host.launcher(), "SIGKILL");
}

async function signal(name: NodeJS.Signals): Promise<void> {
  process.kill(host.qemu(), name);
}

const stageOf = (state: string): string =>
  ["PoweredOff", "Stopped"].includes(state) ? "agent-connected" : "guest-running";

test.each(ends)(
  "a guest that %s: ps, why and the trace say %s while nobody watches",
  async (_, state, _code, message, end) => {
    const wait = ["--detach", "--wait", stageOf(state)];
    expect(await host.run(wait).end()).toMatchObject({ code: 0 });
    await end();
    await host.untilState(state);
    expect((await host.state()).end?.message).toMatch(message);
    // The launcher's note outlives it, even if the launcher cannot say anything more.
    const alive = (): boolean => host.hasLauncher();
    if (alive()) process.kill(host.launcher(), "SIGKILL");
    await until(() => !alive(), "its end");
    expect((await host.state()).state).toBe(state);
    const { out } = await host.virtkit("why", "demo");
    expect(out).toMatch(new RegExp(`^demo: ${state}\n  .*${message.source}`, "m"));
    expect(out).not.toContain("virtkit console");
    expect(out).toContain("virtkit rm demo");
  },
  300_000,
);

const watched = ["powers itself off", "has its QEMU crash", "has its launcher killed"];

test.each(ends.filter(([what]) => watched.includes(what)))(
  "a run that waits for a guest that %s says %s and exits with %i",
  async (_, state, code, message, end) => {
    const run = host.run();
    // The last thing that a run waits for: until then, the end of its launcher is a start that has failed.
    await run.untilSaid(/agent-connected /);
    await end();
    const { code: found, err } = await run.end();
    expect(err).toMatch(new RegExp(`has ended \\(${state}: .*${message.source}`));
    expect(found).toBe(code);
    expect(host.podUids()).toEqual([]);
  },
  300_000,
);

test("a start that fails after its launcher is ready is Failed, its launcher ends, and run works again", async () => {
  const bad = join(host.directory, "bad.yaml");
  const text = await readFile(host.file, "utf8");
  // What this host refuses early never gets this far: only libvirt knows the features of CPUs.
  await writeFile(
    bad,
    text.replace("    cpu:\n", "    cpu:\n      features:\n      - name: no-such-feature\n"),
  );
  const { code, err } = await host.run([], bad).end();
  expect(err).toMatch(/launcher-ready .*\n[\s\S]*FAILED: /);
  expect({ code, err }).toMatchObject({
    code: 1,
    err: expect.stringContaining("virtkit why demo"),
  });
  expect(await host.leftovers(host.podUids())).toEqual([]);
  const { state, end } = await host.state();
  expect(state).toBe("Failed");
  expect(end?.message).toMatch(/^guest-running: ./);
  expect((await host.virtkit("why", "demo")).out).toMatch(
    /^demo: Failed\n {2}guest-running: .*\(\d{4}-/m,
  );
  expect(await host.run(["--detach"]).end()).toMatchObject({ code: 0 });
  expect((await host.state()).state).toBe("Running");
}, 300_000);

test.each(["admitted", "pod-running", "launcher-ready", "claimed"])(
  "a start whose process is killed after %s is Failed, not Starting; run replaces it",
  async (stage) => {
    const killed = host.run();
    await killed.untilSaid(new RegExp(`${stage} `));
    killed.child.kill("SIGKILL");
    await killed.end();
    const [before = ""] = host.podUids();
    // Once requested, the guest starts although nobody waits for it any more: then it does run.
    await until(
      async () => ["Failed", "Running"].includes((await host.state()).state),
      "an answer",
    );
    const { state, end } = await host.state();
    if (stage !== "claimed") expect(state).toBe("Failed");
    if (state === "Failed") {
      expect(end?.message).toMatch(
        /its start was interrupted at [a-z-]+: the process that started it/,
      );
      expect(await host.run(["--detach"]).end()).toMatchObject({ code: 0 });
      expect(await host.leftovers([before])).toEqual([]);
    }
  },
  300_000,
);

test("a launcher that does not answer may have a guest: it is neither replaced nor removed", async () => {
  expect(await host.run(["--detach"]).end()).toMatchObject({ code: 0 });
  const qemu = host.qemu();
  const launcher = host.launcher();
  process.kill(launcher, "SIGSTOP");
  try {
    expect((await host.state()).state).toBe("Unknown");
    expect(await host.run(["--detach"]).end()).toMatchObject({ code: 1 });
    expect((await host.virtkit("rm", "demo")).code).toBe(2);
    expect(host.qemu()).toBe(qemu);
  } finally {
    process.kill(launcher, "SIGCONT");
  }
  await host.untilState("Running");
}, 300_000);
