import type { PlannedEvent } from "@virtkit/api/status";
import type { PlanDraft } from "../plan/plan-draft.ts";

/**
 * The events of a plan, reported as its writes succeed: each write has an event that announces it,
 * and what precedes that event is reported in any case.
 */
export class Announcements {
  readonly #draft: PlanDraft;
  #left: readonly PlannedEvent[];

  constructor(draft: PlanDraft, events: readonly PlannedEvent[]) {
    this.#draft = draft;
    this.#left = events;
  }

  /** The announced write was accepted. */
  done(reason: string): void {
    const announcement = this.#before(reason);
    if (announcement) this.#draft.event(announcement);
  }

  /** The announced write was not needed. */
  skip(reason: string): void {
    this.#before(reason);
  }

  /** The announced write was refused; nothing after it is reported. */
  failed(reason: string, failure: PlannedEvent): void {
    this.#before(reason);
    this.#draft.event(failure);
    this.#left = [];
  }

  /** All writes were accepted. */
  rest(): void {
    for (const event of this.#left) this.#draft.event(event);
    this.#left = [];
  }

  #before(reason: string): PlannedEvent | undefined {
    const index = this.#left.findIndex((event) => event.reason === reason);
    const end = index === -1 ? this.#left.length : index;
    for (const event of this.#left.slice(0, end)) this.#draft.event(event);
    const announcement = this.#left[end];
    this.#left = this.#left.slice(end + 1);
    return announcement;
  }
}
