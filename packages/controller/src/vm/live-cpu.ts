import { newMilliQuantity, Quantity, readQuantity } from "@virtkit/api/quantity";
import { at, isSet, number } from "@virtkit/api/shape";
import { conditionsOf, hasCondition } from "@virtkit/api/status";
import { isMigrating } from "@virtkit/api/status/vm";
import type { JsonPatchOperation } from "@virtkit/kube";
import { valuePatch } from "../plan/field-patch.ts";
import { type Change, changing } from "./running-vmi.ts";
import type { Stop, VmPass } from "./vm-pass.ts";

/**
 * Gives the VMI more sockets; the guest gets them by a migration. Fewer, or too many, need a
 * restart.
 */
export function changeCpu(pass: VmPass): Stop | undefined {
  return changing(pass, "HotPlugCPUError", ({ vmi, wanted }) => {
    const [before, after] = [at(vmi, "spec", "domain", "cpu"), at(wanted, "domain", "cpu")];
    if (!isSet(before) || !isSet(after)) return undefined;
    const [present, sockets] = [number(at(before, "sockets")), number(at(after, "sockets"))];
    if (present === sockets) return undefined;
    if (hasCondition(conditionsOf(vmi), "HotVCPUChange", "True")) {
      return "another change of the number of vCPUs is in progress; wait for it to finish";
    }
    if (isMigrating({ vmi, now: pass.now })) {
      return "the number of vCPUs cannot change during a migration; wait for it to finish";
    }
    const obstacle = obstacleTo(sockets, present, { vmi, wanted });
    if (obstacle !== undefined) {
      pass.requireRestart(obstacle);
      return undefined;
    }
    const refusal = pass.patchVmi(cpuPatch({ vmi, wanted }, pass.config.cpuAllocationRatio));
    return refusal && `the VMI's vCPUs could not be changed: ${refusal.message}`;
  });
}

function obstacleTo(sockets: number, present: number, { vmi, wanted }: Change): string | undefined {
  const field = "spec.template.spec.domain.cpu.sockets";
  const most = number(at(vmi, "spec", "domain", "cpu", "maxSockets"));
  if (sockets > most) {
    return `${field} is ${sockets}, but the running guest supports at most ${most}; restart the VM`;
  }
  if (sockets < present) {
    return `${field} was lowered to ${sockets}; restart the VM to apply it`;
  }
  if (wanted.architecture === "arm64") {
    return `${field} was changed, but arm64 guests do not support that while they run; restart the VM`;
  }
  return undefined;
}

/** Requests and limits of the VMI grow with its vCPUs, if the VM sets any. */
function cpuPatch({ vmi, wanted }: Change, ratio: number): readonly JsonPatchOperation[] {
  const before = at(vmi, "spec", "domain", "cpu");
  const after = at(wanted, "domain", "cpu");
  const added = vcpus(after) - vcpus(before);
  const delta = newMilliQuantity(BigInt(added * Math.trunc(1000 / ratio)), "DecimalSI");
  const resources = (["requests", "limits"] as const).flatMap((list) => {
    const path = ["domain", "resources", list, "cpu"];
    if (amount(at(wanted, ...path)).isZero()) return [];
    const present = at(vmi, "spec", ...path);
    const pointer = `/spec/${path.join("/")}`;
    return valuePatch(pointer, present, amount(present).add(delta).toString());
  });
  const sockets = "/spec/domain/cpu/sockets";
  return [...valuePatch(sockets, at(before, "sockets"), at(after, "sockets")), ...resources];
}

/** Missing parts of a topology count as one, unless all are missing. */
function vcpus(cpu: unknown): number {
  const parts = ["cores", "sockets", "threads"].map((part) => number(at(cpu, part)));
  const given = parts.filter((part) => part !== 0);
  return given.length === 0 ? 0 : given.reduce((product, part) => product * part, 1);
}

/** The amount in a field; undefined if there is none. */
export function amount(value: unknown): Quantity {
  const read = isSet(value) ? readQuantity(String(value)) : undefined;
  return read instanceof Quantity ? read : newMilliQuantity(0n, "DecimalSI");
}
