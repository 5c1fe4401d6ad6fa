import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStartFailure,
} from "../schema/index.ts";
import { at, isObject, number, text } from "../shape.ts";
import { hasRun, isFinal } from "./phases.ts";
import { countsStartFailures, runStrategyOf } from "./run-strategy.ts";
import { uidOf } from "./state-change-requests.ts";

/** The longest time that a failing VM waits for its next start. */
export const maxStartDelaySeconds = 300;

/** The shortest wait after a failure, however low the maximum is set. */
const shortestInterval = 10;

/** The shortest and the longest delay, in seconds. */
export interface DelayRange {
  readonly min: number;
  readonly max: number;
}

/**
 * How long to wait after this many failed starts in a row: a thirtieth of the maximum (ten seconds at least)
 * times the square of the count, and up to half as much again so that VMs that failed together do not start
 * together; never more than the maximum.
 */
export function startDelayRange(
  failCount: number,
  maxDelaySeconds: number = maxStartDelaySeconds,
): DelayRange {
  const { delay, jitter } = backoff(failCount, maxDelaySeconds);
  return {
    min: Math.min(delay, maxDelaySeconds),
    max: Math.min(delay + jitter, maxDelaySeconds),
  };
}

/** A delay from {@link startDelayRange}; `random` returns numbers from 0 up to, but not including, 1. */
export function startDelaySeconds(
  failCount: number,
  random: () => number,
  maxDelaySeconds: number = maxStartDelaySeconds,
): number {
  const { delay, jitter } = backoff(failCount, maxDelaySeconds);
  return Math.min(delay + Math.floor(random() * (jitter + 1)), maxDelaySeconds);
}

function backoff(failCount: number, maxDelaySeconds: number): { delay: number; jitter: number } {
  const interval = Math.max(shortestInterval, Math.trunc(maxDelaySeconds / 30));
  const delay = interval * Math.max(1, failCount) ** 2;
  return { delay, jitter: Math.trunc(delay / 2) };
}

/** Seconds until a VM may be started again; 0 if it may start now. `now` is in milliseconds. */
export function startDelayLeft(vm: VirtualMachine, now: number): number {
  const retryAfter = Date.parse(text(at(vm, "status", "startFailure", "retryAfterTimestamp")));
  if (Number.isNaN(retryAfter)) return 0;
  return Math.max(0, Math.floor(retryAfter / 1000) - Math.floor(now / 1000));
}

/**
 * The desired record of failed starts: removed once a VMI ran or if the strategy starts nothing on its own, one
 * higher for a VMI that ended without ever running, otherwise unchanged.
 */
export function startFailureOf(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  clock: { readonly now: number; readonly random: () => number },
): VirtualMachineStartFailure | undefined {
  const found = at(vm, "status", "startFailure");
  const present = isObject(found) ? (found as VirtualMachineStartFailure) : undefined;
  if (hasRun(vmi)) return undefined;
  const strategy = runStrategyOf(vm);
  if ("strategy" in strategy && !countsStartFailures(strategy.strategy)) return undefined;
  if (!isFinal(vmi) || (present && present.lastFailedVMIUID === uidOf(vmi))) return present;
  const consecutiveFailCount = number(present?.consecutiveFailCount) + 1;
  const delay = startDelaySeconds(consecutiveFailCount, clock.random);
  return {
    consecutiveFailCount,
    lastFailedVMIUID: uidOf(vmi),
    retryAfterTimestamp: wholeSeconds(clock.now + delay * 1000),
  };
}

/** A time as Kubernetes writes it. */
function wholeSeconds(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}
