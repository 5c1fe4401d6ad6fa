import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { Stage } from "@virtkit/api/timeline";
import { type Preparation, type PrepareOptions, prepare } from "../prepare/prepare.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Trace } from "../trace/trace.ts";

/** Does the work of a stage; records that it waits, and then that it is done or why it failed. */
export async function noted<T>(trace: Trace, stage: Stage, work: () => Promise<T>): Promise<T> {
  trace.note({ stage, state: "waiting" });
  const result = await failing(trace, stage, work);
  trace.note({ stage });
  return result;
}

/** Does a part of a stage; records why the stage failed, if it does. */
export async function failing<T>(trace: Trace, stage: Stage, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    noteFailure(trace, stage, error);
    throw error;
  }
}

/** Prepares a sandbox: two stages, of which the current one is the one that fails. */
export async function prepareNoted(
  vmi: VirtualMachineInstance,
  sandbox: Sandbox,
  trace: Trace,
  options: Omit<PrepareOptions, "onPrepared">,
): Promise<Preparation> {
  let stage: Stage = "prepared";
  trace.note({ stage, state: "waiting" });
  const onPrepared = (): void => {
    trace.note({ stage: "prepared" });
    stage = "network-bound";
    trace.note({ stage, state: "waiting" });
  };
  try {
    const preparation = await prepare(vmi, sandbox, { ...options, onPrepared });
    trace.note({ stage });
    return preparation;
  } catch (error) {
    noteFailure(trace, stage, error);
    throw error;
  }
}

function noteFailure(trace: Trace, stage: Stage, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  trace.note({ stage, state: "failed", message });
}
