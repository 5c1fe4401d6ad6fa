import type { GuestControl } from "@virtkit/domain-manager";
import type { CallOptions } from "@virtkit/domain-manager/libvirt";
import { LauncherError } from "../launcher-error.ts";
import type { MigrationVerbs } from "../migration/migration-verbs.ts";
import type { Check } from "./check.ts";
import type { LauncherInfo } from "./launcher-info.ts";
import { maxTimeout } from "./messages.ts";

/** What is sent as a verb's answer. */
export interface VerbAnswer {
  readonly result?: unknown;
  readonly attachment?: Uint8Array;
}

/** What the verbs act on. */
export interface VerbTarget {
  readonly control: GuestControl;
  info(): LauncherInfo;
  /** Absent in a launcher whose guest does not move. */
  readonly migrations?: MigrationVerbs | undefined;
}

/** What carries out the verbs of a migration. */
export function migrationsOf({ migrations }: VerbTarget): MigrationVerbs {
  if (migrations) return migrations;
  throw new LauncherError("LAUNCHER_VERB", "this launcher does not take part in migrations");
}

/** One verb of the channel: everything that the launcher and its client know about it. */
export interface Verb<Args = unknown, Result = unknown> {
  /**
   * What KubeVirt's launcher calls it; empty if it has no such verb.
   */
  readonly kubevirt: string;
  /** Milliseconds that a caller waits by default. KubeVirt's, if it has the verb. */
  readonly timeout: number | ((args: Args) => number);
  /** Reads the arguments that a client sent. A verb without this takes none. */
  readonly args?: Check<Args>;
  /** What is sent as arguments, if that is not the arguments themselves. */
  encodeArgs?(args: Args): unknown;
  /** Reads the result that a launcher sent. A verb without this has none. */
  result?(sent: unknown, path: string, attachment: Uint8Array): Result;
  /** What is sent as the answer, if that is not only the result itself. */
  encodeResult?(result: Result): VerbAnswer;
  /** Carries it out, if the guest control's method of the same name does not. */
  run?(target: VerbTarget, args: Args, options: CallOptions): Promise<Result>;
}

/** The arguments of a request. Throws a `LauncherError` that names the field that is wrong. */
export function readArgs(verb: Verb, sent: unknown): unknown {
  return verb.args?.(sent ?? {}, "args");
}

/** Milliseconds for a call: as many as the caller asks for, else the verb's, within the channel's limit. */
export function deadlineOf({ timeout }: Verb, args: unknown, asked?: number): number {
  const own = typeof timeout === "number" ? timeout : timeout(args);
  return Math.min(Math.max(Math.ceil(asked ?? own), 0), maxTimeout);
}

/** Carries out a verb of the table on arguments that were read. */
export async function carryOut(
  [name, verb]: readonly [name: string, verb: Verb],
  target: VerbTarget,
  args: unknown,
  options: CallOptions,
): Promise<VerbAnswer> {
  const { control } = target;
  const given = verb.args ? [args, options] : [options];
  const result: unknown = verb.run
    ? await verb.run(target, args, options)
    : await Reflect.apply(control[name as keyof GuestControl], control, given);
  if (!verb.result) return {};
  return verb.encodeResult?.(result) ?? { result };
}
