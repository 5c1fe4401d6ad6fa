import { memoryHotplugProblem } from "@virtkit/api/defaults";
import { newQuantity } from "@virtkit/api/quantity";
import { at, isSet } from "@virtkit/api/shape";
import { conditionsOf, hasCondition } from "@virtkit/api/status";
import { isMigrating } from "@virtkit/api/status/vm";
import type { JsonPatchOperation } from "@virtkit/kube";
import { valuePatch } from "../plan/field-patch.ts";
import { amount } from "./live-cpu.ts";
import { type Change, changing } from "./running-vmi.ts";
import type { Stop, VmPass } from "./vm-pass.ts";

const field = "spec.template.spec.domain.memory.guest";

/**
 * Gives the VMI more or less memory by a migration. What the guest cannot apply waits for a
 * restart.
 */
export function changeMemory(pass: VmPass): Stop | undefined {
  return changing(pass, "HotPlugMemoryError", (change) => {
    if (!isWanted(change)) return undefined;
    const unable = inability(change);
    const busy = unable === undefined ? occupation(change, pass.now) : undefined;
    if (busy !== undefined) return busy;
    const obstacle = unable ?? misfit(change);
    if (obstacle !== undefined) {
      pass.requireRestart(obstacle);
      return undefined;
    }
    const refusal = pass.patchVmi(memoryPatch(change));
    return refusal && `the VMI's memory could not be changed: ${refusal.message}`;
  });
}

/**
 * Whether the VM wants a different amount than the VMI has, for a guest that reports its amount.
 */
function isWanted({ vmi, wanted }: Change): boolean {
  const guest = at(wanted, "domain", "memory", "guest");
  const present = at(vmi, "spec", "domain", "memory", "guest");
  const current = at(vmi, "status", "memory", "guestCurrent");
  if (!isSet(guest) || !isSet(present) || !isSet(current)) return false;
  return hasFailed(vmi) || !amount(guest).equals(amount(present));
}

/** The guest did not apply a change; the VMI has it nevertheless. */
function hasFailed(vmi: Change["vmi"]): boolean {
  return hasCondition(conditionsOf(vmi), "HotMemoryChange", "False");
}

/** What it has to wait for. */
function occupation({ vmi }: Change, now: number): string | undefined {
  if (hasCondition(conditionsOf(vmi), "HotMemoryChange", "True")) {
    return "another change of the memory is in progress; wait for it to finish";
  }
  return isMigrating({ vmi, now })
    ? "the memory cannot change during a migration; wait for it to finish"
    : undefined;
}

/** Why this guest's memory cannot change at all. */
function inability({ vmi }: Change): string | undefined {
  if (hasFailed(vmi)) return `${field} was changed, but the guest did not apply it`;
  if (!hasCondition(conditionsOf(vmi), "LiveMigratable", "True")) {
    return `${field} was changed, but that needs a migration and the VMI cannot migrate; restart the VM`;
  }
  if (!isSet(at(vmi, "spec", "domain", "memory", "maxGuest"))) {
    return `${field} was changed, but the VMI has no maxGuest to grow to; restart the VM`;
  }
  return undefined;
}

/** Why it cannot change to this amount. */
function misfit({ vmi, wanted }: Change): string | undefined {
  const guest = amount(at(wanted, "domain", "memory", "guest"));
  const most = amount(at(vmi, "spec", "domain", "memory", "maxGuest"));
  const problem = memoryHotplugProblem(wanted, most);
  if (problem !== undefined) {
    return `${field} was changed, but the maxGuest of a running guest ${problem}`;
  }
  const booted = at(vmi, "status", "memory", "guestAtBoot");
  return isSet(booted) && guest.cmp(amount(booted)) < 0
    ? `${field} is ${guest}, less than the ${String(booted)} that the guest started with; restart the VM`
    : undefined;
}

/**
 * Requests and limits of the VMI change accordingly; a guest may not have given back everything
 * yet.
 */
function memoryPatch({ vmi, wanted }: Change): readonly JsonPatchOperation[] {
  const guest = amount(at(wanted, "domain", "memory", "guest"));
  const current = amount(at(vmi, "status", "memory", "guestCurrent"));
  let delta = newQuantity(guest.value() - current.value(), "BinarySI");
  const operations = [
    ...valuePatch(
      "/spec/domain/memory/guest",
      at(vmi, "spec", "domain", "memory", "guest"),
      guest.toString(),
    ),
  ];
  const request = at(vmi, "spec", "domain", "resources", "requests", "memory");
  if (!amount(request).isZero()) {
    let next = amount(request).add(delta);
    if (next.cmp(guest) < 0) {
      next = guest;
      delta = newQuantity(0n, "BinarySI");
    }
    const path = "/spec/domain/resources/requests/memory";
    operations.push(...valuePatch(path, request, next.toString()));
  }
  if (!amount(at(wanted, "domain", "resources", "limits", "memory")).isZero()) {
    const limit = at(vmi, "spec", "domain", "resources", "limits", "memory");
    const path = "/spec/domain/resources/limits/memory";
    operations.push(...valuePatch(path, limit, amount(limit).add(delta).toString()));
  }
  return operations;
}
