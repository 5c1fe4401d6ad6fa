import { semanticallyEqual } from "@virtkit/api/admission";
import {
  type VirtualMachineInstanceSpec,
  VirtualMachineInstanceSpecSchema,
} from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import { isMigrating } from "@virtkit/api/status/vm";
import { valuePatch } from "../plan/field-patch.ts";
import { type Change, changing } from "./running-vmi.ts";
import { withValue } from "./template-change.ts";
import type { Stop, VmPass } from "./vm-pass.ts";

type Placement = "affinity" | "nodeSelector" | "tolerations";

/** Updates where the VMI may run, from its next migration on. */
export function changePlacement(pass: VmPass): Stop | undefined {
  return follow(pass, "AffinityChangeError", ["affinity", "nodeSelector"]);
}

/** Updates which taints the VMI tolerates, from its next migration on. */
export function changeTolerations(pass: VmPass): Stop | undefined {
  return follow(pass, "TolerationsChangeError", ["tolerations"]);
}

function follow(pass: VmPass, reason: string, fields: readonly Placement[]): Stop | undefined {
  return changing(pass, reason, ({ vmi, wanted }) => {
    const changed = fields.filter((field) => !isSame(field, { vmi, wanted }));
    if (changed.length === 0) return undefined;
    const list = changed.map((field) => `spec.template.spec.${field}`).join(" and ");
    if (isMigrating({ vmi, now: pass.now })) {
      return `${list} cannot change during a migration; wait for it to finish`;
    }
    const refusal = pass.patchVmi(
      changed.flatMap((field) =>
        valuePatch(`/spec/${field}`, at(vmi, "spec", field), wanted[field]),
      ),
    );
    if (refusal) return `${list} could not be copied to the VMI: ${refusal.message}`;
    for (const field of changed) {
      pass.vmi = pass.vmi && withValue(pass.vmi, ["spec", field], wanted[field]);
    }
    return undefined;
  });
}

function isSame(field: Placement, { vmi, wanted }: Change): boolean {
  const only = (spec: unknown): VirtualMachineInstanceSpec => {
    const value = at(spec, field);
    return { domain: { devices: {} }, ...(value === undefined ? {} : { [field]: value }) };
  };
  return semanticallyEqual(VirtualMachineInstanceSpecSchema, only(vmi.spec), only(wanted));
}
