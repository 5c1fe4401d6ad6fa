import assert from "node:assert/strict";
import type {
  DomainManagerErrorCode,
  DomainStatus,
  GuestControl,
  GuestEvent,
  RunGrant,
  SyncRequest,
} from "@virtkit/domain-manager";

type Spec = SyncRequest["vmi"]["spec"];

/** What a check receives. */
export interface GuestCheckContext {
  /** A guest that only this check uses, and that is not there yet. */
  readonly guest: GuestControl;
  /**
   * What starts the guest: a VMI that has one disk with the volume `root`, on the bus `virtio`, a file system
   * on it that the guest mounts, and a guest agent; with a good proof of epoch 1.
   */
  readonly request: (changes?: {
    readonly grant?: Partial<RunGrant>;
    readonly spec?: Partial<Spec>;
  }) => SyncRequest;
  /** Ends the guest from outside: QEMU is killed, or somebody else has libvirt destroy the domain. */
  readonly endFromOutside: (how: "qemu-ends" | "destroyed") => Promise<void>;
  /** A file to which the guest's memory can be dumped. */
  readonly dumpPath: string;
  /** Polls until a condition holds; throws after a long time. */
  readonly until: (holds: () => boolean | Promise<boolean>) => Promise<unknown>;
}

/** One property that callers of `GuestControl` rely on, and that every guest must have. */
export interface GuestCheck {
  readonly name: string;
  readonly check: (context: GuestCheckContext) => Promise<void>;
}

/** A busy host takes its time; what counts is the answer. */
export const patience: { readonly timeout: number } = { timeout: 100_000 };

/** Starts the guest of a check. */
export async function start({ guest, request }: GuestCheckContext): Promise<DomainStatus> {
  return await guest.syncVmi(request(), patience);
}

/** Starts it, and waits until its agent answers. */
export async function startWithAgent(context: GuestCheckContext): Promise<void> {
  await start(context);
  await untilAgent(context);
}

/** Waits until the agent is connected and answers. */
export async function untilAgent({ guest, until }: GuestCheckContext): Promise<void> {
  await until(async () => {
    if ((await guest.status(patience)).agent !== "connected") return false;
    return await guest.guestPing({ timeoutSeconds: 5 }).then(
      () => true,
      () => false,
    );
  });
}

/** Waits until the guest is in a state. */
export async function untilState(
  { guest, until }: GuestCheckContext,
  state: DomainStatus["state"],
): Promise<void> {
  await until(async () => (await guest.status(patience)).state === state);
}

/** Asserts in which state the guest is, and why. */
export async function assertState(
  { guest }: GuestCheckContext,
  state: DomainStatus["state"],
  reason: string,
): Promise<void> {
  const status = await guest.status(patience);
  assert.deepEqual([status.state, status.reason], [state, reason]);
}

/** Asserts with which code a call is refused. */
export async function refused(call: Promise<unknown>, code: DomainManagerErrorCode): Promise<void> {
  const error = await call.then(
    () => assert.fail(`it was not refused with ${code}`),
    (thrown: unknown) => thrown,
  );
  const { name, code: found } = error as { name?: string; code?: string };
  assert.deepEqual([name, found], ["DomainManagerError", code], String(error));
}

/** What a guest reports, in short form: `Running Unknown`, `stage ready done`, `incident IOerror`. */
export class ToldEvents implements AsyncDisposable {
  readonly lines: string[] = [];
  readonly #stop = new AbortController();
  readonly #reading: Promise<void>;

  constructor(guest: GuestControl) {
    this.#reading = this.#read(guest.events({ signal: this.#stop.signal }));
  }

  /** The states alone, each once in a row. */
  get states(): string[] {
    return this.lines
      .filter((line) => !line.startsWith("stage "))
      .filter((line, index, all) => line !== all[index - 1]);
  }

  get stages(): string[] {
    return this.lines.filter((line) => line.startsWith("stage "));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  async #read(events: AsyncIterable<GuestEvent>): Promise<void> {
    for await (const event of events) this.lines.push(inShort(event));
  }
}

function inShort(event: GuestEvent): string {
  switch (event.kind) {
    case "status":
      return `${event.status.state} ${event.status.reason}`;
    case "stage":
      return `stage ${event.stage} ${event.state}`;
    case "incident":
      return `incident ${event.reason}`;
    case "resync":
      return "resync";
  }
}
