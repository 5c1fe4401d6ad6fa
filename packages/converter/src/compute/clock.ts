import type { Clock, DomainSpec, Timer } from "@virtkit/api/schema";
import type { Configurator, Draft } from "../draft.ts";
import type { DomainClock, DomainTimer } from "../model/clock.ts";
import { yesNo } from "./switch.ts";

export const clock: Configurator = {
  name: "clock",
  summary: "The guest's time of day and its timers.",
  configure({ vmi, spec, domain }: Draft): void {
    if (spec.clock) domain.clock = clockOf(spec.clock);
    const frequency = vmi.status?.topologyHints?.tscFrequency ?? 0;
    if (frequency <= 0 || !needsTscFrequency(spec)) return;
    domain.clock ??= { timers: [] };
    domain.clock.timers.push({ name: "tsc", frequency });
  },
};

function clockOf({ utc, timezone, timer }: Clock): DomainClock {
  const timers = timer ? timersOf(timer) : [];
  if (utc) return { offset: "utc", adjustment: adjustment(utc.offsetSeconds), timers };
  if (timezone !== undefined && timezone !== null) {
    return { offset: "timezone", timezone: timezone || undefined, timers };
  }
  return { timers };
}

function adjustment(offsetSeconds: number | null | undefined): string {
  return offsetSeconds === undefined || offsetSeconds === null ? "reset" : String(offsetSeconds);
}

function timersOf({ rtc, pit, kvm, hpet, hyperv }: Timer): DomainTimer[] {
  const timers: DomainTimer[] = [];
  if (rtc) timers.push(timerOf("rtc", rtc.present, rtc.tickPolicy, rtc.track));
  if (pit) timers.push(timerOf("pit", pit.present, pit.tickPolicy));
  if (kvm) timers.push(timerOf("kvmclock", kvm.present));
  if (hpet) timers.push(timerOf("hpet", hpet.present, hpet.tickPolicy));
  if (hyperv) timers.push(timerOf("hypervclock", hyperv.present));
  return timers;
}

function timerOf(
  name: string,
  present: boolean | undefined,
  tickPolicy?: string,
  track?: string,
): DomainTimer {
  return {
    name,
    tickpolicy: tickPolicy || undefined,
    present: yesNo(present, true),
    track: track || undefined,
    frequency: undefined,
  };
}

/** Guests that rely on a steady TSC, and those that Hyper-V notifies of a changed one. */
function needsTscFrequency({ cpu, features }: DomainSpec): boolean {
  const invariant = (cpu?.features ?? []).some(
    ({ name, policy }) => name === "invtsc" && (policy === "require" || policy === "force"),
  );
  return invariant || features?.hyperv?.reenlightenment?.enabled === true;
}
