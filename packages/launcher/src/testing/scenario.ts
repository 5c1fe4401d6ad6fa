import { MayRun } from "@virtkit/domain-manager";
import type { LauncherClient } from "../client/launcher-client.ts";
import type { MemoryGuest } from "./memory-guest.ts";

/**
 * The calls of a typical session, for the transcript of a version: what a client of that version sent, and what
 * a launcher of that version answered. Returns the client's results.
 *
 * @param become changes the guest on the launcher's side; a replay has none and does nothing.
 */
export async function scenario(
  client: LauncherClient,
  become: (...change: Parameters<MemoryGuest["become"]>) => void,
): Promise<unknown[]> {
  const mayRun = MayRun.fromAgent({ vmiUid: "vmi-1", podUid: "pod-1", epoch: 2 });
  const vmi = { metadata: { uid: "vmi-1", name: "demo" }, spec: { domain: { devices: {} } } };
  const results: unknown[] = [];
  const note = (value: unknown): void => void results.push(value);
  note(await client.ping());
  note(await client.info());
  const events = client.events()[Symbol.asyncIterator]();
  note(await events.next());
  const context = { architecture: "amd64", allowEmulation: true };
  const pod = { podLinks: {} } as never;
  note(await client.syncVmi({ vmi: vmi as never, context, pod, mayRun }));
  note(await events.next());
  note(await client.pause());
  note(await events.next());
  note(
    await client.pause().catch((error: unknown) => ({ ...(error as object), text: String(error) })),
  );
  note(await client.unpause(mayRun));
  note(await events.next());
  become({
    agent: "connected",
    interfaces: [
      { name: "default", mac: "02:00:00:00:00:01", interfaceName: "eth0", ips: ["10.0.2.2"] },
    ],
    os: { id: "debian", kernelRelease: "6.1" },
  });
  note(await events.next());
  note(await client.exec({ command: "/bin/ls", args: ["-l"], timeoutSeconds: 3 }));
  note(await client.guestPing({ timeoutSeconds: 1 }));
  note(await client.freeze({ unfreezeAfterSeconds: 300 }));
  note(await client.unfreeze());
  note(await client.users());
  note(await client.fileSystems());
  note(await client.stats());
  note(await client.screenshot());
  note(await client.memoryDump({ path: "/dump" }));
  note(await client.softReboot());
  note(await client.reset());
  note(await client.status());
  note(await client.shutdown());
  note(await events.next());
  await events.return?.();
  note(await client.kill());
  note(await client.delete());
  return results;
}
