export type { Controller, ControllerOptions } from "./controller-options.ts";
export { createController } from "./create-controller.ts";
export type { ReconcileContext, ReconcileResult, Reconciler } from "./reconciler.ts";
export { isTerminal, terminalError } from "./terminal-error.ts";
export {
  controllerOf,
  type RunningWatch,
  type Watch,
  type WatchRun,
  type WatchSpec,
  watch,
} from "./watch.ts";
