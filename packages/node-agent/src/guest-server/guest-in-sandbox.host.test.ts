import { createPod } from "@virtkit/lab";
import { expect, test } from "vitest";
import { openSandbox } from "../sandbox/sandbox.ts";
import { startFakeLauncher } from "../testing/fake-launcher.ts";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { guestInSandbox } from "./guest-in-sandbox.ts";

const vmi = sampleVmi();
const { signal } = new AbortController();

test("requests share one connection to a guest's launcher, which is reopened after a loss", async () => {
  await using pod = await createPod();
  using sandbox = openSandbox({ podUid: pod.podUid, pid: pod.pid });
  const guest = guestInSandbox({ vmi, sandbox, mayRun: undefined });
  await using launcher = await startFakeLauncher(pod, vmi.metadata?.uid ?? "");
  const [first, second] = await Promise.all([
    guest.launcher({ signal }),
    guest.launcher({ signal }),
  ]);
  expect(first).toBe(second);
  expect(await first.status()).toMatchObject({ state: "Absent" });
  launcher.disconnect();
  await expect(first.status()).rejects.toThrow();
  await expect.poll(async () => (await guest.launcher({ signal })) !== first).toBe(true);
  const third = await guest.launcher({ signal });
  expect(await third.status()).toMatchObject({ state: "Absent" });
  await expect(guest.mayRun({ signal })).rejects.toMatchObject({ code: "AGENT_CLAIM_HELD" });
});

test("rejects the launcher of another VMI, and reports one that does not exist", async () => {
  await using pod = await createPod();
  using sandbox = openSandbox({ podUid: pod.podUid, pid: pod.pid });
  await using _ = await startFakeLauncher(pod, "another");
  const wrong = guestInSandbox({ vmi, sandbox, mayRun: undefined });
  await expect(wrong.launcher({ signal })).rejects.toMatchObject({ code: "AGENT_LAUNCHER" });
  const none = guestInSandbox({ vmi, sandbox: undefined, mayRun: undefined });
  await expect(none.launcher({ signal })).rejects.toMatchObject({ code: "AGENT_LAUNCHER" });
});
