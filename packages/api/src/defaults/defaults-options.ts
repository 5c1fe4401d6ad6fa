import { wallTime } from "../clock/index.ts";
import { realRandom } from "../random/index.ts";

/** Inputs of defaulting that differ from call to call. */
export interface DefaultsOptions {
  /** The time of the request. Default: now. */
  readonly now?: () => Date;
  /** A new random UUID, for firmware that has none. Default: the platform's `crypto`. */
  readonly uuid?: () => string;
}

/** The source of UUIDs that the options ask for. */
export function uuidSource({ uuid = realRandom.uuid }: DefaultsOptions): () => string {
  return uuid;
}

/** The time that the options ask for, as Kubernetes writes times: in UTC and whole seconds. */
export function timestamp({ now = wallTime }: DefaultsOptions): string {
  return now()
    .toISOString()
    .replace(/\.\d+Z$/, "Z");
}
