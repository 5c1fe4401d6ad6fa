import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { sourceTarget, toMigrationXml } from "@virtkit/converter";
import type { ParameterArguments } from "@virtkit/domain-manager/libvirt";
import { isBlockMigration } from "../is-block-migration.ts";
import { guardVmi } from "../policy/guard-vmi.ts";
import { readMigratingDomain, wrapXmlError } from "../read-migrating-domain.ts";
import { bandwidthMiB } from "./bandwidth.ts";
import { compressionOf } from "./compression.ts";
import { copiedDisks } from "./copied-disks.ts";
import { destinationName } from "./destination-name.ts";
import { type MigrateFlag, singleCallFlags } from "./migration-flags.ts";
import type { MigrationOptions } from "./migration-options.ts";
import { type MigrationUris, migrationUris } from "./migration-uris.ts";

/** The parameters of libvirt's migration calls. */
export type MigrationParams = ParameterArguments<"migration">;

/** What a plan is made from. */
export interface MigrationInput {
  readonly vmi: VirtualMachineInstance;
  readonly options: MigrationOptions;
  /** The running domain as libvirt describes it for a migration (`migratable`). */
  readonly domainXml: string;
  /** Whether the user has paused the guest, read before *begin*. */
  readonly paused: boolean;
  /** Whether the target edits the XML itself before it starts the guest. Default: yes. */
  readonly destinationHook?: boolean;
  /** Sizes in bytes that the guest sees of the copied volumes, by volume. */
  readonly virtualSizes?: Readonly<Record<string, number | bigint>>;
  /** Space used by the overlays of ephemeral disks, in bytes; counted if disks are copied. */
  readonly ephemeralDisksBytes?: number;
  /** QEMU encrypts the data; the target's certificate must have this name. */
  readonly tls?: { readonly destination: string } | undefined;
  /** Where QEMU sends to. Default: the sockets of the migration proxy in the launcher. */
  readonly uris?: MigrationUris;
  /**
   * libvirt's version as it reports it, such as 9000000. Parameters that it does not know are left out. Default: it
   * knows all.
   */
  readonly libvirtVersion?: number;
  /**
   * QEMU's version as libvirt reports it, such as 7002000. An older one is spared what may crash it. Default: a version
   * without such faults.
   */
  readonly qemuVersion?: number;
  /** The platform's directory names. Default: KubeVirt's. */
  readonly names?: Names;
}

/** The one call by which KubeVirt migrates. */
export interface SingleCall {
  readonly flags: readonly MigrateFlag[];
  readonly params: MigrationParams;
  readonly destinationXml: string;
  /** The disks that are copied, such as `vda`. */
  readonly copiedDisks: readonly string[];
}

/** What KubeVirt would pass to libvirt in one call. `planMigration` derives the five phases from it. */
export function planSingleCall(input: MigrationInput): SingleCall {
  return guardVmi(input.vmi, () => singleCall(input));
}

function singleCall(input: MigrationInput): SingleCall {
  const { vmi, options, paused, destinationHook = true, virtualSizes, names } = input;
  const running = readMigratingDomain(input.domainXml, "domainXml");
  const destinationXml = wrapXmlError("domainXml", () => {
    const facts = { destinationHook, running, ...(virtualSizes && { virtualSizes }) };
    return toMigrationXml(running, sourceTarget(vmi, { ...facts, ...(names && { names }) }));
  });
  const uris = input.uris ?? migrationUris(vmi, names);
  const disks = copiedDisks(running, vmi);
  const bandwidth = bandwidthMiB(options.bandwidth);
  const compression = compressionOf(options);
  const params: MigrationParams = {
    migrate_uri: uris.memory,
    destination_name: destinationName(vmi),
    destination_xml: destinationXml,
    persistent_xml: destinationXml,
    ...(bandwidth > 0 && { bandwidth }),
    ...(options.parallelThreads !== undefined && {
      "parallel.connections": options.parallelThreads,
    }),
    ...(disks.length > 0 && {
      migrate_disks: disks,
      disks_uri: uris.disks,
      migrate_disks_detect_zeroes: disks,
    }),
    ...(compression && { compression }),
  };
  const flags = singleCallFlags(options, { blockMigration: isBlockMigration(vmi), paused });
  return { flags, params, destinationXml, copiedDisks: disks };
}
