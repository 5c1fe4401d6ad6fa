export type { FileCalls } from "./file-calls.ts";
export { lockFile } from "./lock-file.ts";
export {
  StepJournal,
  type StepRecord,
  type StepState,
} from "./step-journal.ts";
export {
  createDurably,
  makeDirectoryDurably,
  removeDurably,
  syncDirectory,
  writeDurably,
  writerOf,
} from "./write-durably.ts";
