import { migrationChecks } from "@virtkit/testing/hypervisor/checks";
import { afterAll, beforeAll, describe, test } from "vitest";
import { CheckedLaunchers } from "../testing/checked-launchers.ts";
import { inGuest, JoinedNodes } from "../testing/joined-nodes.ts";

let joined: JoinedNodes;
let launchers: CheckedLaunchers;

beforeAll(async () => {
  joined = await JoinedNodes.start();
  launchers = new CheckedLaunchers(joined);
  await inGuest(joined.both[0], "true");
});
afterAll(async () => {
  await launchers?.[Symbol.asyncDispose]();
  await joined?.[Symbol.asyncDispose]();
});

// The same checks run against simulated launchers: see @virtkit/testing.
describe("two launchers with libvirt and QEMU", () => {
  test.each(migrationChecks)("$name", { timeout: 120_000 }, async ({ check }) => {
    await check(await launchers.next());
  });
});
