import {
  attribute,
  children,
  type ElementType,
  element,
  numberAttribute,
  required,
} from "./element.ts";
import type { Extensible } from "./extensible.ts";

/** The guest's time of day. */
export interface DomainClock extends Extensible {
  offset?: string | undefined;
  timezone?: string | undefined;
  adjustment?: string | undefined;
  timers: DomainTimer[];
}

/** A timer of the guest; the frequency is in Hz. */
export interface DomainTimer extends Extensible {
  name: string;
  tickpolicy?: string | undefined;
  present?: string | undefined;
  track?: string | undefined;
  frequency?: number | undefined;
}

const timerElement: ElementType<DomainTimer> = element(() => ({
  name: required(attribute()),
  tickpolicy: attribute(),
  present: attribute(),
  track: attribute(),
  frequency: numberAttribute(),
}));

export const clockElement: ElementType<DomainClock> = element(() => ({
  offset: attribute(),
  timezone: attribute(),
  adjustment: attribute(),
  timers: required(children("timer", timerElement)),
}));
