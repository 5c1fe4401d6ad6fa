import { mutate } from "@virtkit/api/admission";
import type { BatchFunction } from "./batch-area.ts";
import { admissionRequest, contextConfig, contextTime, requestContext } from "./request-context.ts";

/** Stands for every UUID that is made up, so that answers can be compared. */
const generated = "<generated>";

/** Stands for the time of every request that brings none. */
const pinnedTime = Date.parse("2026-01-01T00:00:00Z");

/** The mutating webhook: the object with its defaults. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  mutate: (input, given) => {
    const context = requestContext(given);
    const now = new Date(contextTime(context) ?? pinnedTime);
    const mutation = mutate(admissionRequest(input, context), contextConfig(context), {
      uuid: () => generated,
      now: () => now,
    });
    if (!mutation.allowed) {
      const { allowed, code, message } = mutation;
      return { allowed, code, message };
    }
    const { object, patch, warnings } = mutation;
    return {
      allowed: true,
      object,
      ...(patch.length > 0 ? { patchOps: patch.map(({ op, path }) => `${op} ${path}`) } : {}),
      ...(warnings.length > 0 ? { warnings } : {}),
    };
  },
};
