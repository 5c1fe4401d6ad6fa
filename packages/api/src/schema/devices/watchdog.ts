import { type OpenEnum, object, openEnum, required, type Schema, string } from "../schema.ts";

/** What to do with a guest that hangs. */
export type WatchdogAction = OpenEnum<typeof WatchdogActionValues>;
export const WatchdogActionValues = ["poweroff", "reset", "shutdown"] as const;
export const WatchdogActionSchema: Schema<WatchdogAction> = openEnum(WatchdogActionValues);

/** The watchdog of s390x. */
export interface Diag288Watchdog {
  action?: WatchdogAction;
}

export const Diag288WatchdogSchema: Schema<Diag288Watchdog> = object<Diag288Watchdog>({
  action: WatchdogActionSchema,
});

/** Intel's PCI watchdog. */
export interface I6300ESBWatchdog {
  action?: WatchdogAction;
}

export const I6300ESBWatchdogSchema: Schema<I6300ESBWatchdog> = object<I6300ESBWatchdog>({
  action: WatchdogActionSchema,
});

/** A timer that acts when the guest no longer resets it. */
export interface Watchdog {
  diag288?: Diag288Watchdog;
  i6300esb?: I6300ESBWatchdog;
  name: string;
}

export const WatchdogSchema: Schema<Watchdog> = object<Watchdog>({
  diag288: Diag288WatchdogSchema,
  i6300esb: I6300ESBWatchdogSchema,
  name: required(string),
});
