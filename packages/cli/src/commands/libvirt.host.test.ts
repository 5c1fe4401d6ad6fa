import { setTimeout as sleep } from "node:timers/promises";
import { type Libvirtd, runProgram, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Run, runVirtkit } from "../testing/run-virtkit.ts";

let daemon: Libvirtd;
let uri: string;

beforeAll(async () => {
  daemon = await startLibvirtd();
  uri = `test+unix:///default?socket=${daemon.socket}`;
});

afterAll(async () => {
  await daemon?.[Symbol.asyncDispose]();
});

const libvirt = (...args: string[]): Promise<Run> =>
  runVirtkit(["libvirt", ...args, "--connect", uri]);

const virsh = (...args: string[]): Promise<string> =>
  runProgram("virsh", ["-q", "-c", uri, ...args]);

test("ls lists the domains with state and reason", async () => {
  expect(await libvirt("ls")).toEqual({
    code: 0,
    out: "ID  NAME  STATE\n1   test  running (unknown)\n",
    err: "",
  });
});

test.each(["test", "6695eb01-f6a4-8304-79aa-97f2502e193f", "1"])(
  "xml %s equals what virsh prints",
  async (name) => {
    const { code, out } = await libvirt("xml", name);
    expect(code).toBe(0);
    expect(out.trimEnd()).toBe((await virsh("dumpxml", "test")).trimEnd());
  },
);

test("a domain that does not exist exits 1 with the daemon's message", async () => {
  const { code, out, err } = await libvirt("xml", "nobody");
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain("noDomain");
});

test("stats prints one JSON object per domain", async () => {
  const { out } = await libvirt("stats", "--group", "state");
  expect(
    out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([expect.objectContaining({ name: "test", "state.state": 1 })]);
});

test("events prints one JSON object per line", async () => {
  const listening = libvirt("events", "--type", "lifecycle", "--count", "2");
  // The client does not report when it has registered; it misses events until then.
  let done = false;
  void listening.finally(() => {
    done = true;
  });
  while (!done) {
    await virsh("suspend", "test");
    await virsh("resume", "test");
    await sleep(50);
  }
  const lines = (await listening).out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toHaveLength(2);
  expect(["suspended", "resumed"]).toContain(lines[0].event);
  expect(["paused", "unpaused"]).toContain(lines[0].detail);
});
