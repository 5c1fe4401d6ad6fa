import type { LostVmi, VmiRecord } from "@virtkit/local";
import type { Io } from "../io.ts";
import { UsageError } from "../usage-error.ts";
import { settledVmi } from "./settled-vmi.ts";
import { vmiName } from "./vmi-name.ts";

export { vmiName } from "./vmi-name.ts";

/** The VMI that a user means by `NAME` or `NAMESPACE/NAME`. An abandoned move of it is finished first. */
export async function findVmi(
  stateDirectory: string,
  names: readonly string[],
  io: Pick<Io, "stderr">,
): Promise<VmiRecord> {
  const { namespace, name } = parseName(names);
  const { readRecord } = await import("@virtkit/local");
  const record = await readRecord(stateDirectory, namespace, name);
  if (record) return await settledVmi(stateDirectory, record, io);
  throw unknown({ namespace, name });
}

/** A VMI by its record, or by what else exists of it. */
export type AnyVmi =
  | { readonly record: VmiRecord; readonly lost?: undefined }
  | { readonly record?: undefined; readonly lost: LostVmi };

/** Like {@link findVmi}, but also finds a VMI whose record is gone or unreadable, by its name or its Pod's UID. */
export async function findAnyVmi(
  stateDirectory: string,
  names: readonly string[],
  io: Pick<Io, "stderr">,
): Promise<AnyVmi> {
  const meant = parseName(names);
  const { findLostVmi, listRecords } = await import("@virtkit/local");
  const { records } = await listRecords(stateDirectory);
  const record = records.find(
    ({ namespace, name }) => namespace === meant.namespace && name === meant.name,
  );
  if (record) return { record: await settledVmi(stateDirectory, record, io) };
  const lost = await findLostVmi(stateDirectory, meant);
  if (lost) return { lost };
  throw unknown(meant);
}

export function parseName(names: readonly string[]): Pick<VmiRecord, "namespace" | "name"> {
  const [text, ...more] = names;
  if (text === undefined || more.length > 0) {
    throw new UsageError('name one VMI; "virtkit ps" lists them');
  }
  const [name = "", namespace = "default"] = text.split("/", 2).reverse();
  return { namespace, name };
}

function unknown(vmi: Pick<VmiRecord, "namespace" | "name">): Error {
  return new Error(
    `VMI "${vmiName(vmi)}" does not exist; "virtkit ps" lists VMIs, "virtkit run -f FILE" starts one`,
  );
}
