import { isObject, type JsonObject } from "@virtkit/api/shape";
import { isMigrationError, MigrationError } from "../migration-error.ts";
import type { ControlCallOptions, ControlLink } from "./control-link.ts";

/**
 * The versions of the messages between the launchers of a migration that this release speaks. 1 has no hello; 2 is the same
 * with one.
 */
export const handoverVersions: readonly number[] = [1, 2];

/** More than a peer has reason to list. */
const mostVersions = 32;

/** Answers the first question on a link: the highest version that both sides speak. */
export function answerHello(params: unknown): JsonObject {
  const versions = isObject(params) ? params["versions"] : undefined;
  const isList = Array.isArray(versions) && versions.length <= mostVersions;
  if (!isList || !versions.every((each) => Number.isSafeInteger(each))) {
    const message = `hello.versions must be a list of at most ${mostVersions} integers`;
    throw new MigrationError("MIGRATION_REFUSED", message, { path: "hello.versions" });
  }
  const version = Math.max(...handoverVersions.filter((each) => versions.includes(each)));
  if (Number.isFinite(version)) return { version };
  throw noneInCommon(versions.join(", ") || "none");
}

/**
 * Agrees with the peer on the version of all further messages.
 *
 * @throws MigrationError `MIGRATION_REFUSED` if there is none in common, so that nothing is begun.
 */
export async function agreeOnVersion(
  link: Pick<ControlLink, "call">,
  options?: ControlCallOptions,
): Promise<number> {
  try {
    const answer = await link.call("hello", { versions: handoverVersions }, options);
    const found = isObject(answer) ? answer["version"] : undefined;
    const version = handoverVersions.find((each) => each === found);
    if (version !== undefined) return version;
    const message = "the peer chose a version of the handover that it was not offered";
    throw new MigrationError("MIGRATION_PEER", message, { path: "hello.versions" });
  } catch (error) {
    // Only a side of version 1 does not know this question: it finds fault with the method, or with what it misses.
    if (isMigrationError(error) && error.code === "MIGRATION_INPUT_INVALID") return 1;
    throw error;
  }
}

function noneInCommon(found: string): MigrationError {
  const message = `the other side's launcher speaks version ${found} of the handover, and this one ${handoverVersions.join(", ")}; nothing was begun: bring both nodes to the same release`;
  return new MigrationError("MIGRATION_REFUSED", message, { path: "hello.versions" });
}
