import { sha256 } from "@virtkit/api/hash";
import type { ObjectName } from "@virtkit/kube";
import { objectKey } from "@virtkit/kube/cache";
import type { PlanTarget } from "../plan/carry-out.ts";
import type { PlannedWrite } from "../plan/plan.ts";

/**
 * The last status that this process has given each VM. A status that is neither that one nor what
 * the caches call for was written by somebody with another view: of two controllers without an
 * election, one may lag. Reading the API server before overwriting another's status ends that: the
 * one that lagged finds nothing to write.
 */
export class OwnStatuses {
  readonly #written = new Map<string, string>();

  /** A target that records what happens to the VM's status. */
  noting(vm: ObjectName, target: PlanTarget): PlanTarget {
    return {
      write: async (write, options) => {
        const answer = await target.write(write, options);
        if (isStatusWrite(write)) this.#written.set(objectKey(vm), digest(answer));
        return answer;
      },
    };
  }

  /**
   * Whether somebody else has changed the status since this process wrote it; false if it never
   * did.
   */
  isOverwritten(vm: ObjectName, present: unknown): boolean {
    const written = this.#written.get(objectKey(vm));
    return written !== undefined && written !== digest(present);
  }

  forget(vm: ObjectName): void {
    this.#written.delete(objectKey(vm));
  }
}

/** Whether a write of a VM's plan changes its status. */
export function isStatusWrite(write: PlannedWrite): boolean {
  return (
    write.kind === "patch" &&
    write.resource.kind === "VirtualMachine" &&
    write.subresource === "status"
  );
}

function digest(vm: unknown): string {
  return sha256(JSON.stringify(Object(vm).status ?? {})).slice(0, 16);
}
