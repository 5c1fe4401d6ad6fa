import { readFileSync } from "node:fs";
import { type GuestControl, MayRun } from "@virtkit/domain-manager";
import type { CallOptions } from "@virtkit/domain-manager/libvirt";
import { expect, expectTypeOf, test } from "vitest";
import type { LauncherClient } from "../client/launcher-client.ts";
import { connectForTest } from "../testing/channel-fixture.ts";
import { rawLauncher, rawServer } from "../testing/raw-channel.ts";
import { checkStatus } from "./guest-checks.ts";
import type { Verb } from "./verb.ts";
import { type MethodsOf, type VerbTable, verbs } from "./verbs.ts";

const table = Object.entries<Verb>(verbs as Readonly<Record<string, Verb>>);
const readme = new URL("../../README.md", import.meta.url);

test("a missing verb, or one with another's checks, does not compile", () => {
  const { softReboot, users, exec, info, ...rest } = verbs;
  // @ts-expect-error: softReboot is missing
  const missing: VerbTable = { ...rest, users, exec, info };
  // @ts-expect-error: users reads the status
  const other: VerbTable = { ...verbs, users: { ...users, result: checkStatus } };
  // @ts-expect-error: nothing reads the result of users
  const unread: VerbTable = { ...verbs, users: { kubevirt: "", timeout: 1 } };
  // @ts-expect-error: nothing reads the arguments of exec
  const untaken: VerbTable = { ...verbs, exec: { ...softReboot, result: exec.result } };
  // @ts-expect-error: a guest's control has no info, and nothing else carries it out
  const undone: VerbTable = { ...verbs, info: { ...softReboot, result: info.result } };
  expect([missing, other, unread, untaken, undone]).toHaveLength(5);
  type Guest = Omit<GuestControl, "events">;
  expectTypeOf<MethodsOf<VerbTable>>().toExtend<Guest>();
  expectTypeOf<MethodsOf<Omit<VerbTable, "softReboot">>>().not.toExtend<Guest>();
});

test("a client's method takes what the verb takes, and the options", () => {
  expectTypeOf<LauncherClient["softReboot"]>().parameters.toEqualTypeOf<
    [options?: CallOptions | undefined]
  >();
  expectTypeOf<LauncherClient["unpause"]>().parameters.toEqualTypeOf<
    [mayRun: MayRun, options?: CallOptions | undefined]
  >();
  expectTypeOf<LauncherClient["ping"]>().returns.toEqualTypeOf<Promise<void>>();
});

/** What a method is called with, where it takes anything but options. */
const given: Readonly<Record<string, unknown>> = {
  syncVmi: { vmi: {}, context: {}, mayRun: someGrant() },
  unpause: someGrant(),
  freeze: { unfreezeAfterSeconds: 1 },
  exec: { command: "ls" },
  guestPing: { timeoutSeconds: 1 },
  memoryDump: { path: "/dump" },
  noteClaim: { migrationUID: "m", mayRun: someGrant() },
};

function someGrant(): MayRun {
  return MayRun.fromAgent({ vmiUid: "a", podUid: "b", epoch: 1 });
}

test.each(table)("%s: the client rejects an answer of another shape", async (name, verb) => {
  const { end, dial } = await rawLauncher();
  end.send({ type: "hello", versions: [1] });
  const client = await connectForTest({ dial });
  const method = client[name as keyof typeof verbs] as (args?: unknown) => Promise<unknown>;
  const called = method.call(client, given[name]).catch((error: unknown) => error);
  await end.next();
  expect(await end.message()).toMatchObject({ type: "request", verb: name });
  end.send({ type: "answer", id: 1, success: true, result: 42 });
  // Where nothing is wanted, nothing is taken.
  if (!verb.result) expect(await called).toBeUndefined();
  else expect(await called).toMatchObject({ code: "LAUNCHER_PROTOCOL", path: name });
});

test.each<[string, object | undefined, number]>([
  ["softReboot", undefined, 20_000],
  ["exec", { command: "ls" }, 20_000],
  ["exec", { command: "ls", timeoutSeconds: 60 }, 65_000],
  ["guestPing", { timeoutSeconds: 1 }, 6_000],
  ["guestPing", { timeoutSeconds: 24 * 60 * 60 }, 24 * 60 * 60 * 1_000],
])("%s with %j and no deadline gets the table's", async (verb, args, timeout) => {
  const { guest, end } = await rawServer();
  const seen: unknown[] = [];
  guest.before = async (_, options) => void seen.push(options?.timeout);
  end.send({ type: "hello", versions: [1] });
  end.send({ type: "request", id: 1, verb, args });
  await end.next();
  expect(await end.message()).toMatchObject({ id: 1, success: true });
  expect(seen).toEqual([timeout]);
});

test("the README's table of verbs is this one (vitest -u writes it)", async () => {
  const rows = table.map(([name, { kubevirt, timeout }]) => {
    const theirs = kubevirt ? kubevirt.split(", ").map((verb) => `\`${verb}\``) : ["none"];
    const deadline = typeof timeout === "number" ? `${timeout / 1_000} s` : "by its arguments";
    return `| \`${name}\` | ${theirs.join(", ")} | ${deadline} |\n`;
  });
  const lines = ["| verb | KubeVirt's | deadline by default |\n", "| --- | --- | --- |\n", ...rows];
  const text = readFileSync(readme, "utf8");
  const [before = "", after = ""] = text.split(/(?<=<!-- verbs -->\n)[\s\S]*(?=<!-- end -->)/);
  await expect(`${before}${lines.join("")}${after}`).toMatchFileSnapshot(readme.pathname);
});
