import type { Write } from "../../plan.ts";
import type { NodeRequest } from "../node/index.ts";
import { badRequest, conflict, internalError, type Refusal } from "../outcome.ts";
import { nameOf } from "../state-change.ts";

/** How a write failed. */
export interface WriteFailure {
  readonly kind: /** A test of the patch failed: somebody else has changed the object. */
    | "test-failed"
    /** The API server, or a webhook, refuses the object. */
    | "invalid"
    | "other";
  readonly message: string;
  /** The object that the API server names, if it is not the one that was written. */
  readonly details?: Refusal["details"];
}

/** The answer for a write that failed. If the object or the request is the reason, it is not a 500. */
export function writeRefusal(write: Write, failure: WriteFailure): Refusal {
  const { kind, message } = failure;
  const name = "name" in write ? write.name : nameOf(write.object);
  const isVm = write.resource === "virtualmachines";
  switch (kind) {
    case "test-failed":
      return conflict(isVm ? "virtualmachine" : "virtualmachineinstance", name, message);
    case "invalid": {
      const own = { kind: isVm ? "VirtualMachine" : "VirtualMachineInstance", name };
      const { details = own } = failure;
      return { kind: "refused", code: 422, reason: "Invalid", message, details };
    }
    case "other":
      return internalError(message);
  }
}

/** The answer if the VMI's node refuses; its text is shown, with bounded length. */
export function nodeRefusal({ name }: NodeRequest, code: number, said: string): Refusal {
  const words = said.trim().slice(0, 1000) || `it answered ${code}`;
  switch (code) {
    case 400:
      return badRequest(words);
    case 404:
      return {
        kind: "refused",
        code: 404,
        reason: "NotFound",
        message: words,
        details: { kind: "virtualmachineinstance", name },
      };
    case 409:
      return conflict("virtualmachineinstance", name, words);
    default:
      return internalError(`the VMI's node could not do it: ${words}`);
  }
}
