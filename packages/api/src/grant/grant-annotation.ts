import { isObject } from "../shape.ts";
import type { Grant, Holder, ReadGrant } from "./grant.ts";

/** The annotation's name below the platform's own prefix: `names().own(grantAnnotation)`. */
export const grantAnnotation = "run-grant";

const version = 1;
/** A grant with two holders needs about 1 KiB. */
const mostCharacters = 8192;
const mostCharactersOfField = 253;

/** The annotation's value. Never throws: every grant that was read or decided has one. */
export function encodeGrant(grant: Grant): string {
  return JSON.stringify({ version, ...grant });
}

/**
 * Reads the annotation of the VMI with this UID. A value that is absent, malformed, of another version or of
 * another VMI is `Invalid`, never free. Unknown fields make a value malformed, since a later release may have given
 * them a meaning.
 */
export function decodeGrant(value: unknown, vmiUID: string): ReadGrant {
  if (value === undefined || value === null) return invalid("it is absent");
  if (typeof value !== "string") return invalid("it must be a string");
  if (last?.value === value && last.vmiUID === vmiUID) return last.grant;
  last = { value, vmiUID, grant: decode(value, vmiUID) };
  return last.grant;
}

/** What was decoded last: one pass over a VMI asks for its grant again and again. */
let last:
  | { readonly value: string; readonly vmiUID: string; readonly grant: ReadGrant }
  | undefined;

function decode(value: string, vmiUID: string): ReadGrant {
  if (value.length > mostCharacters)
    return invalid(`it is longer than ${mostCharacters} characters`);
  let fields: unknown;
  try {
    fields = JSON.parse(value);
  } catch {
    return invalid("it is not JSON");
  }
  if (!isObject(fields)) return invalid("it must be an object");
  if (fields["version"] !== version) {
    const found = JSON.stringify(fields["version"])?.slice(0, 20) ?? "nothing";
    return invalid(`its version is ${found}, but this release knows ${version}`);
  }
  const { version: _, ...grant } = fields;
  const problem = problemOf(grant);
  if (problem) return invalid(problem);
  const read = grant as unknown as Grant;
  if (read.state !== "Free" && read.vmiUID !== vmiUID) {
    return invalid("it belongs to another VMI; perhaps it was copied");
  }
  return read;
}

function invalid(problem: string): ReadGrant {
  return { state: "Invalid", problem };
}

const common = ["state", "vmiUID", "epoch", "seq"];
const handover = [...common, "holder", "target", "migrationUID"];

/** The fields of each state, no more and no fewer. */
const fieldsOf: Readonly<Record<Grant["state"], readonly string[]>> = {
  Free: common,
  Granted: [...common, "podUID"],
  Claimed: [...common, "holder"],
  HandingOver: handover,
  Released: handover,
  Committed: handover,
  Ended: common,
};

const holderFields: readonly (keyof Holder)[] = [
  "podUID",
  "containerID",
  "node",
  "machineID",
  "bootID",
  "nonce",
];

/** Whether a value is an incarnation, with all its fields and no others. */
export function isHolder(value: unknown): value is Holder {
  return isObject(value) && !wrongField(value, holderFields, (_, field) => isText(field));
}

function problemOf(grant: Readonly<Record<string, unknown>>): string | undefined {
  const state = grant["state"];
  if (typeof state !== "string" || !Object.hasOwn(fieldsOf, state)) {
    return "this release does not know its state";
  }
  const known = state as Grant["state"];
  const isRight = (name: string, value: unknown): boolean => isField(known, name, value);
  const wrong = wrongField(grant, fieldsOf[known], isRight);
  return wrong && `its field ${wrong.slice(0, 40)} does not match state ${state}`;
}

function isField(state: Grant["state"], name: string, value: unknown): boolean {
  const isFree = state === "Free";
  switch (name) {
    case "state":
      return true;
    case "epoch":
    case "seq":
      return isCount(value, isFree ? 0 : 1);
    case "vmiUID":
      return isFree ? value === "" : isText(value);
    case "holder":
    case "target":
      return isHolder(value);
    default:
      return isText(value);
  }
}

function wrongField(
  value: Readonly<Record<string, unknown>>,
  names: readonly string[],
  isRight: (name: string, field: unknown) => boolean,
): string | undefined {
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  return (
    unknown ?? names.find((name) => !Object.hasOwn(value, name) || !isRight(name, value[name]))
  );
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "" && value.length <= mostCharactersOfField;
}

function isCount(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least;
}
