import { encodeGrant, type Holder } from "@virtkit/api/grant";
import { MayRun } from "@virtkit/domain-manager";
import type { LauncherClient } from "../client/launcher-client.ts";

const holder = (name: string): Holder => ({
  ...{ podUID: `pod-${name}`, containerID: `containerd://${name}`, node: `node-${name}` },
  ...{ machineID: name, bootID: name, nonce: name },
});

/**
 * Everything that node agents ask of both launchers in a migration, for the transcript of a version. Returns the
 * client's results.
 */
export async function migrationScenario(client: LauncherClient): Promise<unknown[]> {
  const migrationUID = "m-1";
  const migration = { migrationUID, vmiUID: "vmi-1", epoch: 1, seq: 4 };
  const vmi = { metadata: { uid: "vmi-1", name: "demo" }, spec: { domain: { devices: {} } } };
  const options = { bandwidth: "64Mi", allowPostCopy: true };
  const sockets = { peer: "/proxy/handover", serve: "/run/s" };
  const results: unknown[] = [];
  const note = (value: unknown): void => void results.push(value);
  note(await client.measureGuest({ vmi: vmi as never, seconds: 2 }));
  note(
    await client.receiveMigration({
      ...{ migration, holder: holder("b"), domain: "domain-1" },
      guest: {
        ...{ vmi: vmi as never, context: { architecture: "amd64", allowEmulation: true } },
        pod: { podLinks: {} } as never,
      },
      ...{ listen: "unix:///run/m", encrypted: true, listenDisks: "unix:///run/d" },
      ...{ sizes: { data: 1_073_741_824 }, ...sockets },
    }),
  );
  note(
    await client.migrate({
      ...{ migration, holder: holder("a"), vmi: vmi as never, options: options as never },
      tls: { destination: migrationUID },
      uris: { memory: "unix:///proxy/memory", disks: "unix:///proxy/disks" },
      ...sockets,
    }),
  );
  note(await client.followMigration({ migrationUID }));
  note(await client.switchToPostCopy({ migrationUID }));
  const counted = { vmiUID: "vmi-1", epoch: 1, seq: 5, migrationUID } as const;
  const sides = { holder: holder("a"), target: holder("b") };
  note(
    await client.noteGrant({
      migrationUID,
      grant: encodeGrant({ state: "Committed", ...counted, ...sides }),
      proofs: [
        { kind: "processGone", bootID: "a", machineID: "a", seen: "pidfd" } as never,
        { kind: "containerTerminated", containerID: "containerd://a", reason: "Completed" },
      ],
    }),
  );
  note(await client.cancelMigration({ migrationUID, reason: "an abort was requested" }));
  note(await client.releaseMigration({ migration }));
  note(await client.migrationDecision({ migration }));
  const mayRun = MayRun.fromAgent({ vmiUid: "vmi-1", podUid: "pod-b", epoch: 2 });
  note(await client.noteClaim({ migrationUID, mayRun }));
  note(await client.followMigration({ migrationUID, after: 8 }));
  return results;
}
