import type { Names } from "@virtkit/api/names";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { entry } from "@virtkit/api/shape";
import {
  migrationTransferAnnotation,
  readMigrationTransfer,
  writeMigrationTransfer,
} from "@virtkit/api/status";
import { isUnderWay, type LauncherWord } from "./launcher-attempt.ts";

/** Milliseconds between two notes: each is a write that every watcher of VMIs receives. A pass comes every 5 s. */
const noteInterval = 4_500;

/**
 * What a VMI should say about the progress of its migration; undefined if that stays the same. It is not removed at
 * the end: it names its migration, and nobody shows the progress of another one.
 */
export function transferNote(
  vmi: VirtualMachineInstance,
  { word, now, names }: { readonly word: LauncherWord | undefined; now: number; names: Names },
): string | undefined {
  if (!isUnderWay(word)) return undefined;
  const known = entry(vmi.metadata?.annotations, names.own(migrationTransferAnnotation));
  const { migrationUID, progress } = word;
  const before = readMigrationTransfer(known);
  const isFresh = before?.migrationUID === migrationUID && now - before.at < noteInterval;
  if (isFresh || !progress || progress.total === 0) return undefined;
  const { total, remaining, bytesPerSecond } = progress;
  const figures = { total, remaining, bytesPerSecond: Math.round(bytesPerSecond) };
  return writeMigrationTransfer({ migrationUID, ...figures, at: now });
}

/** The VMI with the note of {@link transferNote}. */
export function withTransferNote<Vmi extends VirtualMachineInstance>(
  vmi: Vmi,
  note: string,
  names: Names,
): Vmi {
  const { annotations } = vmi.metadata ?? {};
  const noted = { ...annotations, [names.own(migrationTransferAnnotation)]: note };
  return { ...vmi, metadata: { ...vmi.metadata, annotations: noted } };
}
