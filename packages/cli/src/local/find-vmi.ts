import type { LostVmi, VmiRecord } from "@virtkit/local";
import { UsageError } from "../usage-error.ts";

/** The VMI that a user means by `NAME` or `NAMESPACE/NAME`. */
export async function findVmi(
  stateDirectory: string,
  names: readonly string[],
): Promise<VmiRecord> {
  const { namespace, name } = parseName(names);
  const { readRecord } = await import("@virtkit/local");
  const record = await readRecord(stateDirectory, namespace, name);
  if (record) return record;
  throw unknown({ namespace, name });
}

/** A VMI by its record, or by what else there is of it. */
export type AnyVmi =
  | { readonly record: VmiRecord; readonly lost?: undefined }
  | { readonly record?: undefined; readonly lost: LostVmi };

/** {@link findVmi}, also of one whose record is gone or cannot be read; then a Pod's UID is a name, too. */
export async function findAnyVmi(
  stateDirectory: string,
  names: readonly string[],
): Promise<AnyVmi> {
  const meant = parseName(names);
  const { findLostVmi, listRecords } = await import("@virtkit/local");
  const { records } = await listRecords(stateDirectory);
  const record = records.find(
    ({ namespace, name }) => namespace === meant.namespace && name === meant.name,
  );
  if (record) return { record };
  const lost = await findLostVmi(stateDirectory, meant);
  if (lost) return { lost };
  throw unknown(meant);
}

function parseName(names: readonly string[]): Pick<VmiRecord, "namespace" | "name"> {
  const [text, ...more] = names;
  if (text === undefined || more.length > 0) {
    throw new UsageError("give the name of one VMI; virtkit ps lists them");
  }
  const [name = "", namespace = "default"] = text.split("/", 2).reverse();
  return { namespace, name };
}

function unknown(vmi: Pick<VmiRecord, "namespace" | "name">): Error {
  return new Error(
    `there is no VMI "${vmiName(vmi)}"; virtkit ps lists them, virtkit run -f FILE starts one`,
  );
}

/** How a VMI is called on the command line. */
export function vmiName({ namespace, name }: Pick<VmiRecord, "namespace" | "name">): string {
  return namespace === "default" ? name : `${namespace}/${name}`;
}
