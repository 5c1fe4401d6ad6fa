import type { BatchFunction } from "../batch/batch-area.ts";
import { guardVmis } from "./guard-vmis.ts";
import {
  type SourcePassContext,
  type SourcePassInput,
  sourcePasses,
} from "./handler-migration-source.ts";
import {
  type TargetPassContext,
  type TargetPassInput,
  targetPasses,
} from "./handler-migration-target.ts";
import { withoutNulls } from "./handler-nulls.ts";
import { checkHandlerCase } from "./handler-shape.ts";

/** The functions of area `handler-migration`. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  "source-pass": (input, context) => answer(input, context, sourcePasses),
  "target-pass": (input, context) => answer(input, context, targetPasses),
};

/** One pass is answered as it is, several as a list. */
function answer(
  given: unknown,
  around: unknown,
  run: (
    input: SourcePassInput & TargetPassInput,
    context: SourcePassContext & TargetPassContext,
  ) => readonly object[],
): unknown {
  checkHandlerCase(given, around);
  const input = withoutNulls(Object(given)) as SourcePassInput & TargetPassInput;
  const context = withoutNulls(Object(around)) as SourcePassContext & TargetPassContext;
  const { steps, vmi } = input;
  const passes = guardVmis(vmi ? { vmi } : {}, () => run(input, context));
  return steps ? { passes } : passes[0];
}
