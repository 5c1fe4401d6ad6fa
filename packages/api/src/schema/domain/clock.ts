import { boolean, int, type OpenEnum, object, openEnum, type Schema, string } from "../schema.ts";

/** What happens to ticks that the guest missed. */
export type HPETTickPolicy = OpenEnum<typeof HPETTickPolicyValues>;
export const HPETTickPolicyValues = ["delay", "catchup", "merge", "discard"] as const;
export const HPETTickPolicySchema: Schema<HPETTickPolicy> = openEnum(HPETTickPolicyValues);

/** High precision event timer. */
export interface HPETTimer {
  /** On if absent. */
  present?: boolean;
  tickPolicy?: HPETTickPolicy;
}

export const HPETTimerSchema: Schema<HPETTimer> = object<HPETTimer>({
  present: boolean,
  tickPolicy: HPETTickPolicySchema,
});

/** The Hyper-V reference timer. */
export interface HypervTimer {
  /** On if absent. */
  present?: boolean;
}

export const HypervTimerSchema: Schema<HypervTimer> = object<HypervTimer>({
  present: boolean,
});

/** The kvmclock paravirtual timer. */
export interface KVMTimer {
  /** On if absent. */
  present?: boolean;
}

export const KVMTimerSchema: Schema<KVMTimer> = object<KVMTimer>({
  present: boolean,
});

/** What happens to ticks that the guest missed. */
export type PITTickPolicy = OpenEnum<typeof PITTickPolicyValues>;
export const PITTickPolicyValues = ["delay", "catchup", "discard"] as const;
export const PITTickPolicySchema: Schema<PITTickPolicy> = openEnum(PITTickPolicyValues);

/** Programmable interval timer. */
export interface PITTimer {
  /** On if absent. */
  present?: boolean;
  tickPolicy?: PITTickPolicy;
}

export const PITTimerSchema: Schema<PITTimer> = object<PITTimer>({
  present: boolean,
  tickPolicy: PITTickPolicySchema,
});

/** What happens to ticks that the guest missed. */
export type RTCTickPolicy = OpenEnum<typeof RTCTickPolicyValues>;
export const RTCTickPolicyValues = ["delay", "catchup"] as const;
export const RTCTickPolicySchema: Schema<RTCTickPolicy> = openEnum(RTCTickPolicyValues);

/** The clock that the timer follows. */
export type RTCTimerTrack = OpenEnum<typeof RTCTimerTrackValues>;
export const RTCTimerTrackValues = ["guest", "wall"] as const;
export const RTCTimerTrackSchema: Schema<RTCTimerTrack> = openEnum(RTCTimerTrackValues);

/** Real-time clock. */
export interface RTCTimer {
  /** On if absent. */
  present?: boolean;
  tickPolicy?: RTCTickPolicy;
  track?: RTCTimerTrack;
}

export const RTCTimerSchema: Schema<RTCTimer> = object<RTCTimer>({
  present: boolean,
  tickPolicy: RTCTickPolicySchema,
  track: RTCTimerTrackSchema,
});

/** The timers that the guest sees. */
export interface Timer {
  hpet?: HPETTimer;
  hyperv?: HypervTimer;
  kvm?: KVMTimer;
  pit?: PITTimer;
  rtc?: RTCTimer;
}

export const TimerSchema: Schema<Timer> = object<Timer>({
  hpet: HPETTimerSchema,
  hyperv: HypervTimerSchema,
  kvm: KVMTimerSchema,
  pit: PITTimerSchema,
  rtc: RTCTimerSchema,
});

/** UTC, optionally shifted. */
export interface ClockOffsetUTC {
  /** Offset from UTC. If it is set, changes that the guest makes to its clock survive a reboot. */
  offsetSeconds?: number;
}

export const ClockOffsetUTCSchema: Schema<ClockOffsetUTC> = object<ClockOffsetUTC>({
  offsetSeconds: int,
});

/** The guest's clock and its timers. */
export interface Clock {
  timer?: Timer;
  /** Name of a time zone; otherwise `utc`. */
  timezone?: string;
  utc?: ClockOffsetUTC;
}

export const ClockSchema: Schema<Clock> = object<Clock>({
  timer: TimerSchema,
  timezone: string,
  utc: ClockOffsetUTCSchema,
});

/** What the clock shows at the start: UTC or a time zone. */
export interface ClockOffset {
  timezone?: string;
  utc?: ClockOffsetUTC;
}

export const ClockOffsetSchema: Schema<ClockOffset> = object<ClockOffset>({
  timezone: string,
  utc: ClockOffsetUTCSchema,
});
