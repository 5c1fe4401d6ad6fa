import { isObject } from "@virtkit/api/shape";
import { MigrationError } from "../migration-error.ts";
import type { ControlCallOptions, ControlHandler } from "./control-link.ts";
import { answerHello } from "./handover-version.ts";
import { checkIdentity, type MigrationIdentity } from "./migration-identity.ts";
import type { ControlCaller } from "./redialing-link.ts";
import { xmlLimit } from "./xml-limit.ts";

/** What the target needs to receive a guest. */
export interface PrepareRequest {
  readonly migration: MigrationIdentity;
  /** The domain that the source has or asks for. A target makes its own from it. */
  readonly xml: string;
  readonly cookie: Uint8Array;
  /** libvirt's flags, by name. */
  readonly flags: readonly string[];
  /** How many connections carry memory in parallel. Both QEMUs must open the same number. */
  readonly connections?: number | undefined;
  /** How both QEMUs compress memory, such as `zstd`. */
  readonly compression?: string | undefined;
  /** Disks whose content is sent along, by the guest's names, such as `vda`. */
  readonly disks?: readonly string[] | undefined;
  /** Whether the guest's user had paused it. */
  readonly paused: boolean;
}

/** Completes the reception: the target has the guest's memory. */
export interface FinishRequest {
  readonly migration: MigrationIdentity;
  readonly cookie: Uint8Array;
  readonly flags: readonly string[];
}

/** What one phase passes to the next. */
export interface PhaseAnswer {
  readonly cookie: Uint8Array;
}

/** The state of the target's copy. `whole`: it runs and no longer needs its source. */
export type TargetState = "absent" | "paused" | "incomplete" | "whole";

/** The target of a migration as its source sees it. */
export interface TargetEnd {
  prepare(request: PrepareRequest, options?: ControlCallOptions): Promise<PhaseAnswer>;
  finish(request: FinishRequest, options?: ControlCallOptions): Promise<PhaseAnswer>;
  /** The source will never run again. Resolves once the target has this on its disk. */
  release(migration: MigrationIdentity, options?: ControlCallOptions): Promise<void>;
  /** The source continues, so the target's copy must be destroyed. */
  abort(migration: MigrationIdentity, options?: ControlCallOptions): Promise<void>;
  state(migration: MigrationIdentity, options?: ControlCallOptions): Promise<TargetState>;
}

const cookieLimit = 2 * 1024 * 1024;
const states: readonly TargetState[] = ["absent", "paused", "incomplete", "whole"];

/** The target at the other end of a link. */
export function targetOver(link: ControlCaller): TargetEnd {
  const phase = async (
    method: "prepare" | "finish",
    { cookie, ...request }: PrepareRequest | FinishRequest,
    options?: ControlCallOptions,
  ): Promise<PhaseAnswer> => {
    const sent = { ...request, cookie: Buffer.from(cookie).toString("base64") };
    const answer = await link.call(method, sent, options);
    return { cookie: readCookie(isObject(answer) ? answer["cookie"] : undefined, method) };
  };
  return {
    prepare: (request, options) => phase("prepare", request, options),
    finish: (request, options) => phase("finish", request, options),
    async release(migration, options) {
      await link.call("release", { migration }, options);
    },
    async abort(migration, options) {
      await link.call("abort", { migration }, options);
    },
    async state(migration, options) {
      const answer = await link.call("state", { migration }, options);
      const found = states.find((each) => isObject(answer) && answer["state"] === each);
      if (found) return found;
      throw new MigrationError(
        "MIGRATION_PEER",
        "the target reported an unknown state of its copy",
      );
    },
  };
}

/** Answers for a target. Everything that comes from the link is checked before it is passed on. */
export function serveTarget(target: TargetEnd): ControlHandler {
  return async (method, params) => {
    if (method === "hello") return answerHello(params);
    const sent = isObject(params) ? params : {};
    const migration = checkIdentity(sent["migration"], `${method}.migration`);
    switch (method) {
      case "prepare":
        return encoded(
          await target.prepare({
            migration,
            xml: readText(sent["xml"], xmlLimit, "prepare.xml"),
            cookie: readCookie(sent["cookie"], method),
            flags: readFlags(sent["flags"], method),
            connections: readConnections(sent["connections"]),
            compression: readCompression(sent["compression"]),
            disks: readDisks(sent["disks"]),
            paused: sent["paused"] === true,
          }),
        );
      case "finish":
        return encoded(
          await target.finish({
            migration,
            cookie: readCookie(sent["cookie"], method),
            flags: readFlags(sent["flags"], method),
          }),
        );
      case "release":
        await target.release(migration);
        return {};
      case "abort":
        await target.abort(migration);
        return {};
      case "state":
        return { state: await target.state(migration) };
      default:
        throw wrong("method", "a method that a target serves");
    }
  };
}

function encoded({ cookie }: PhaseAnswer): object {
  return { cookie: Buffer.from(cookie).toString("base64") };
}

function readText(value: unknown, most: number, path: string): string {
  if (typeof value === "string" && value.length <= most && !value.includes("\0")) return value;
  throw wrong(path, `a string of at most ${most} characters without NUL`);
}

function readCookie(value: unknown, method: string): Uint8Array {
  return Buffer.from(readText(value ?? "", cookieLimit, `${method}.cookie`), "base64");
}

function readFlags(value: unknown, method: string): readonly string[] {
  if (Array.isArray(value) && value.length <= 32) {
    return value.map((entry, index) => readText(entry, 64, `${method}.flags[${index}]`));
  }
  throw wrong(`${method}.flags`, "a list of at most 32 names");
}

/** QEMU supports up to 255; a proxy carries 64 streams. */
const maxConnections = 64;

function readConnections(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && Number(value) > 0 && Number(value) <= maxConnections) {
    return Number(value);
  }
  throw wrong("prepare.connections", `an integer from 1 to ${maxConnections}`);
}

/** A guest has at most a few hundred disks. */
const mostDisks = 1_024;

function readDisks(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const isList = Array.isArray(value) && value.length > 0 && value.length <= mostDisks;
  const isName = (name: unknown): name is string =>
    typeof name === "string" && /^[a-z]{2,8}$/.test(name);
  if (isList && value.every(isName)) return value;
  throw wrong("prepare.disks", `a list of 1 to ${mostDisks} names like vda`);
}

function readCompression(value: unknown): string | undefined {
  return value === undefined ? undefined : readText(value, 16, "prepare.compression");
}

function wrong(path: string, wanted: string): MigrationError {
  return new MigrationError("MIGRATION_INPUT_INVALID", `${path} must be ${wanted}`, { path });
}
