export { type FileCalls, nodeFiles } from "./file-calls.ts";
export {
  planRecovery,
  type RecoveryStep,
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
