import type { Libvirt } from "@virtkit/domain-manager/libvirt";
import {
  type ControlCaller,
  type ControlHandler,
  DecisionFile,
  serveSource,
  serveTarget,
  sourceOver,
  targetOver,
} from "@virtkit/migration/handover";
import {
  type FollowSourceOptions,
  followSource,
  type HandoverGrant,
  type SettledSource,
  type SourceParts,
} from "@virtkit/migration/source";
import {
  type FollowOptions,
  followTarget,
  MigrationError,
  MigrationReceiver,
  ReceiveFile,
  type SettledTarget,
  type TargetGrant,
  type TargetSeam,
} from "@virtkit/migration/target";
import type { PartRecord } from "./part-file.ts";

/** What both sides work with after a restart. */
interface ResumedOptions extends Pick<SourceParts, "log"> {
  readonly directory: string;
  readonly libvirt: Libvirt;
  /** To the other side's launcher. */
  readonly link: ControlCaller;
}

/** Whether anything has begun that a restarted launcher must bring to an end. */
export function hasBegun(directory: string, { role, migration }: PartRecord): boolean {
  const { migrationUID } = migration;
  return role === "source"
    ? new DecisionFile(directory, migrationUID).start() !== undefined
    : new ReceiveFile(directory, migrationUID).received() !== undefined;
}

/** The decision on disk, for the first report after a restart. */
export function decisionOf(
  directory: string,
  { migrationUID }: PartRecord["migration"],
): { readonly decision?: NonNullable<ReturnType<DecisionFile["decision"]>>["outcome"] } {
  const found = new DecisionFile(directory, migrationUID).decision();
  return found ? { decision: found.outcome } : {};
}

/** A source after a restart: what was begun is never finished, only settled by its decision. */
export function resumedSource(
  { migration, domain }: PartRecord,
  options: ResumedOptions & { readonly grant: HandoverGrant },
): {
  readonly handler: ControlHandler;
  follow(options: FollowSourceOptions): Promise<SettledSource | undefined>;
} {
  const { directory, libvirt, link, grant, log } = options;
  const decision = new DecisionFile(directory, migration.migrationUID);
  const parts = { libvirt, domain, migration, decision, target: targetOver(link), grant, log };
  return {
    handler: serveSource(directory),
    follow: async (following) => await followSource(parts, following),
  };
}

/** A target after a restart: it keeps a copy that is complete, and receives no other one. */
export function resumedTarget(
  { migration, domain: uuid, listen = "", encrypted }: PartRecord,
  options: ResumedOptions & {
    readonly name: string;
    readonly resume: Libvirt;
    readonly grant: TargetGrant;
    readonly at: (seam: TargetSeam) => void;
  },
): {
  readonly receiver: MigrationReceiver;
  readonly handler: ControlHandler;
  follow(options: FollowOptions): Promise<SettledTarget | undefined>;
} {
  const { directory, link, name, ...around } = options;
  const parts = {
    ...around,
    ...{ migration, listen, encrypted },
    domain: { name, uuid },
    file: new ReceiveFile(directory, migration.migrationUID),
    source: sourceOver(link),
    destinationXml: (): never => {
      const text = "this launcher was restarted after it had begun to receive; migrate again";
      throw new MigrationError("MIGRATION_REFUSED", text, { path: "prepare" });
    },
  };
  const receiver = new MigrationReceiver(parts);
  return {
    receiver,
    handler: serveTarget(receiver),
    follow: async (following) => await followTarget(parts, following),
  };
}
