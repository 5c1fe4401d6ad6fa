import { rmSync } from "node:fs";
import { type Claimed, decide, type Holder } from "@virtkit/api/grant";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { parseDomain } from "@virtkit/converter";
import { connectLibvirt } from "@virtkit/domain-manager/libvirt";
import type { MigrationOptions } from "@virtkit/migration/source";
import {
  type CertificateAuthority,
  type Identity,
  type MigrationSide,
  migrationIdentity,
} from "@virtkit/pki";
import { LauncherMigrations } from "../migration/launcher-migrations.ts";
import type { MigrationReport, ReceiveRequest } from "../migration/migration-verbs.ts";
import { followAsAgent } from "./follow-as-agent.ts";
import { domain, type JoinedNode } from "./joined-nodes.ts";
import type { MemoryGrantStore } from "./memory-grant-store.ts";
import { ProxyProcess } from "./proxy-process.ts";

const vmiUID = "6a1a24a1-4061-4607-8bf4-a3963d0c5895";
export const vmi: VirtualMachineInstance = {
  metadata: { name: "vm", namespace: "ns", uid: vmiUID },
  spec: { domain: { devices: {}, memory: { guest: "256Mi" } } },
  status: { migrationState: {} },
};

/** What a move may do by default. */
const defaults: MigrationOptions = {
  ...{ bandwidth: "0", progressTimeout: 150, completionTimeoutPerGiB: 0, maxDowntimeMs: 300 },
  ...{ unsafe: true, allowAutoConverge: false, allowPostCopy: false },
  allowWorkloadDisruption: false,
};

/** A holder on a node. */
export function holderOn(node: string, number: number): Holder {
  const id = `${node}-${number}`;
  return {
    ...{ podUID: `pod-${id}`, containerID: `container-${id}`, nonce: `nonce-${id}` },
    ...{ node, machineID: `machine-${node}`, bootID: `boot-${node}` },
  };
}

/** The grant before the first move. */
export const claimedOn = (node: string): Claimed => ({
  ...{ state: "Claimed", vmiUID, epoch: 1, seq: 1, holder: holderOn(node, 0) },
});

/** The parts of a move. */
export interface MoveParts {
  readonly number: number;
  readonly nodes: readonly [JoinedNode, JoinedNode];
  readonly store: MemoryGrantStore;
  readonly authority: CertificateAuthority;
  /** What a side shows instead of its certificate. */
  readonly shows?: Partial<Record<MigrationSide, (migrationUID: string) => Identity>>;
}

/** How both sides ended, and everything that they reported. */
export interface Moved {
  readonly ends: readonly [source: MigrationReport, target: MigrationReport];
  readonly reports: readonly MigrationReport[];
}

/**
 * Hands the guest over to the other node, as the node agents of both do: the grant, the proxies,
 * the launchers. Rejects if the proxies do not connect; then no launcher has learned of the move.
 */
export async function move(
  { number, nodes, store, authority, shows = {} }: MoveParts,
  options: Partial<MigrationOptions> = {},
): Promise<Moved> {
  const { holder: from } = store.grant as Claimed;
  const [source, target] = nodes[0].name === from.node ? nodes : ([nodes[1], nodes[0]] as const);
  const migrationUID = `m-${number}`;
  const to = holderOn(target.name, number);
  const asked = { target: to, migrationUID, remembered: true, sourceRuns: true } as const;
  const handedOver = decide(store.grant, { kind: "handOver", ...asked });
  if ("refused" in handedOver) throw new Error(handedOver.reason);
  const { epoch, seq } = handedOver.grant;
  const migration = { migrationUID, vmiUID, epoch, seq };
  const at = ({ daemon }: JoinedNode, name: string): string => {
    const path = `${daemon.directory}/${name}${number}`;
    rmSync(path, { force: true });
    return path;
  };
  const sockets = {
    ...{ peer: at(source, "ctl"), out: at(source, "out"), answers: at(source, "s") },
    ...{ serve: at(target, "t"), in: at(target, "in"), asks: at(target, "ask") },
  };
  const issue = async (side: MigrationSide) =>
    await authority.issue(shows[side]?.(migrationUID) ?? migrationIdentity(migrationUID, side));
  const channels = (control: string, data: string): readonly object[] => [
    { name: "handover", kind: "control", path: control },
    { name: "memory", kind: "data", path: data },
  ];
  await using far = await ProxyProcess.start(target.network, {
    ...{ side: "target", uid: migrationUID, credentials: await issue("target") },
    ...{ address: target.address, channels: channels(sockets.serve, sockets.in) },
  });
  await using _near = await ProxyProcess.start(source.network, {
    ...{ side: "source", uid: migrationUID, credentials: await issue("source") },
    ...{ target: { host: target.address, ...far.ports } },
    channels: channels(sockets.peer, sockets.out),
  });
  store.grant = handedOver.grant;
  await using leaving = launcherOn(source);
  await using receiving = launcherOn(target);
  await receiving.receiveMigration({
    ...{ migration, holder: to, domain: domain.uuid, listen: `unix://${sockets.in}` },
    guest: { vmi, context: {} as ReceiveRequest["guest"]["context"] },
    ...{ serve: sockets.serve, peer: sockets.asks },
  });
  await leaving.migrate({
    ...{ migration, holder: from, vmi, options: { ...defaults, ...options } },
    uris: { memory: `unix://${sockets.out}`, disks: "" },
    ...{ serve: sockets.answers, peer: sockets.peer },
  });
  const reports: MigrationReport[] = [];
  const follow = (client: LauncherMigrations, holder: Holder): Promise<MigrationReport> =>
    followAsAgent({ client, reports }, store, { migrationUID, holder });
  const ends = await Promise.all([follow(leaving, from), follow(receiving, to)]);
  return { ends, reports };
}

function launcherOn({ daemon, definition }: JoinedNode): LauncherMigrations {
  return new LauncherMigrations({
    ...{ vmiUID, domain: domain.name, directory: `${daemon.directory}/state` },
    connect: () => connectLibvirt({ uri: daemon.uri }),
    prepareGuest: async () => ({ domain: parseDomain(definition), complete: async () => {} }),
  });
}
