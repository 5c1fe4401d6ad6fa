import { guardVmi } from "../policy/guard-vmi.ts";
import { readMigratingDomain } from "../read-migrating-domain.ts";
import { type ConvergencePolicy, convergencePolicy } from "./convergence-policy.ts";
import { destinationName } from "./destination-name.ts";
import { type MigrateFlag, phaseFlags } from "./migration-flags.ts";
import type { MigrationOptions } from "./migration-options.ts";
import { refuseIncoherent } from "./refuse-incoherent.ts";
import { refuseUnready } from "./refuse-unready.ts";
import { type MigrationInput, type MigrationParams, planSingleCall } from "./single-call.ts";

/** The arguments of a migration's phases, and when it is given up. */
export interface MigrationPlan {
  /** Flags of *begin*, *prepare*, *perform* and *confirm*. */
  readonly flags: readonly MigrateFlag[];
  /** Flags of *finish*. */
  readonly finishFlags: readonly MigrateFlag[];
  /** Flags of *finish* after the switch to post-copy. */
  readonly postcopyFinishFlags: readonly MigrateFlag[];
  /**
   * Parameters of *begin*, *prepare* and *perform*. *Prepare* takes as `destination_xml` what *begin*
   * answered, or what the target made of that.
   */
  readonly params: MigrationParams;
  /** Parameters of *finish* and *confirm*. */
  readonly finishParams: MigrationParams;
  /** The XML that is sent. */
  readonly destinationXml: string;
  /** The disks that are copied, such as `vda`. */
  readonly copiedDisks: readonly string[];
  /** Whether the target resumes the guest after its release: not if its user had paused it. */
  readonly resume: boolean;
  /** The downtime set in QEMU before *perform*; only with stall detection, which raises it later. */
  readonly initialDowntimeMs?: number;
  /** For `watchMigration` and `judge`. */
  readonly policy: ConvergencePolicy;
}

/** QEMU's own. */
const defaultDowntimeMs = 300;

/** `migrate_disks_detect_zeroes` exists since this version. */
const detectZeroesSince = 10_009_000;

/**
 * Older versions of QEMU can crash when a migration over several streams fails, and the guest is lost although it should
 * have stayed. It was seen with QEMU 7.2; 9.0 reworked that code.
 */
const severalStreamsSince = 9_000_000;

/** The options that this QEMU survives. Compression needs several streams. */
function safeOptions({ options, qemuVersion }: MigrationInput): MigrationOptions {
  if (qemuVersion === undefined || qemuVersion >= severalStreamsSince) return options;
  const { parallelThreads: _, compression: __, ...others } = options;
  return others;
}

/**
 * Plans a migration. What it may do, where the data goes, which disks are copied and what changes in
 * the XML is as KubeVirt decides; `phaseFlags` turns its single call into the five phases.
 *
 * @throws MigrationError `MIGRATION_NOT_NOW` if the VMI cannot be migrated now,
 * `MIGRATION_XML_INVALID` if the domain's XML cannot be read or cannot be
 * changed, `MIGRATION_INPUT_INVALID` and `MIGRATION_QUANTITY_INVALID` for fields of wrong shape.
 *
 * @example
 * ```ts
 * const plan = planMigration({ vmi, options, domainXml, paused: false });
 * const begun = await source.call("domainMigrateBegin", { dom, params: plan.params, flags: plan.flags });
 * ```
 */
export function planMigration(given: MigrationInput): MigrationPlan {
  const input = { ...given, options: safeOptions(given) };
  const { vmi, options, paused, tls, libvirtVersion } = input;
  return guardVmi(vmi, () => {
    refuseUnready(vmi);
    const call = planSingleCall(input);
    if (!options.unsafe) {
      refuseIncoherent(readMigratingDomain(input.domainXml, "domainXml"), call.copiedDisks);
    }
    const { flags, finish, finishAfterPostcopy } = phaseFlags(call.flags, {
      tls: tls !== undefined,
    });
    const { migrate_disks_detect_zeroes: detectZeroes, ...params } = call.params;
    const knowsDetectZeroes = libvirtVersion === undefined || libvirtVersion >= detectZeroesSince;
    return {
      flags,
      finishFlags: finish,
      postcopyFinishFlags: finishAfterPostcopy,
      params: {
        ...params,
        ...(detectZeroes && knowsDetectZeroes && { migrate_disks_detect_zeroes: detectZeroes }),
        ...(tls && { "tls.destination": tls.destination }),
      },
      finishParams: { destination_name: destinationName(vmi) },
      destinationXml: call.destinationXml,
      copiedDisks: call.copiedDisks,
      resume: !paused,
      ...(options.stallDetection && {
        initialDowntimeMs: Math.min(options.maxDowntimeMs, defaultDowntimeMs),
      }),
      policy: convergencePolicy(vmi, options, input.ephemeralDisksBytes),
    };
  });
}
