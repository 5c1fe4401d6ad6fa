import { constants } from "node:os";
import { until } from "@virtkit/api/clock";
import type { Stage, TraceEntry } from "@virtkit/api/timeline";
import { type DomainStatus, type GuestEvent, isOff } from "@virtkit/domain-manager";
import type { AccelChoice, StartedVmi, StartVmiOptions, VmiEnd, VmiRecord } from "@virtkit/local";
import type { Io } from "../io.ts";
import { UsageError } from "../usage-error.ts";
import { attachConsole } from "./attach-console.ts";
import { vmiName } from "./find-vmi.ts";
import { exposureText, publishText } from "./parse-publish.ts";
import { plain } from "./plain.ts";
import { ProgressLines } from "./progress-lines.ts";
import { settledVmi } from "./settled-vmi.ts";

/** Options of {@link runSession}. */
export interface SessionOptions
  extends Pick<
    StartVmiOptions,
    | "stateDirectory"
    | "vmi"
    | "objects"
    | "published"
    | "network"
    | "sources"
    | "pidsLimit"
    | "allowedHostDiskDirectories"
  > {
  readonly accel: AccelChoice;
  readonly detach: boolean;
  /** The handoff after which a detached VMI is left alone. */
  readonly until: Stage;
  readonly removeOnInterrupt: boolean;
}

/** Reads `--accel`. */
export function accelOf(text = "auto"): AccelChoice {
  if (text === "auto" || text === "kvm" || text === "tcg") return text;
  throw new UsageError(`--accel ${text}: use auto, kvm or tcg`);
}

/** Errors after which there is no VMI, or not ours. */
const noVmi = ["AGENT_CLAIM_HELD", "AGENT_VMI_INVALID", "AGENT_REFUSED", "AGENT_ARGUMENT"];

/** How a session continued after the guest ran. */
type Outcome = "ended" | "left" | "interrupted";

/** Whether a guest ended unexpectedly. */
function isFailure(end: VmiEnd | undefined): boolean {
  return end !== undefined && ["Killed", "Crashed", "Failed"].includes(end.kind);
}

/** Runs a VMI for the user of a terminal, or for a script, and returns the exit code. */
export async function runSession(options: SessionOptions, io: Io): Promise<number> {
  const interrupt = new Interrupt();
  const session = new Session(options, io, interrupt);
  try {
    return await session.run();
  } finally {
    interrupt.ignore();
  }
}

/** Ctrl-C and SIGTERM: the first asks, the second forces. */
class Interrupt {
  readonly #wish = new AbortController();
  readonly #order = new AbortController();
  #exitCode = 0;
  readonly #listener = (signal: "SIGINT" | "SIGTERM"): void => {
    if (this.#wish.signal.aborted) this.#order.abort();
    this.#exitCode ||= 128 + constants.signals[signal];
    this.#wish.abort();
  };

  constructor() {
    process.on("SIGINT", this.#listener);
    process.on("SIGTERM", this.#listener);
  }

  /** Aborted by the first signal. */
  get signal(): AbortSignal {
    return this.#wish.signal;
  }

  /** The shell's exit code for the first: 130 after SIGINT, 143 after SIGTERM. 0 while there was none. */
  get exitCode(): number {
    return this.#exitCode;
  }

  /** Aborted by the second signal. */
  get atOnce(): AbortSignal {
    return this.#order.signal;
  }

  ignore(): void {
    process.off("SIGINT", this.#listener);
    process.off("SIGTERM", this.#listener);
  }
}

/** How long after its console has closed a guest's end may be reported. */
const consoleGrace = 5_000;

class Session {
  readonly #options: SessionOptions;
  readonly #io: Io;
  readonly #interrupt: Interrupt;
  readonly #stages = new Set<Stage>();
  readonly #waiters = new Set<() => void>();
  #last: DomainStatus | undefined;
  #hasRun = false;
  /** The sandbox is gone, whatever was said about the guest. */
  #isOver = false;

  constructor(options: SessionOptions, io: Io, interrupt: Interrupt) {
    this.#options = options;
    this.#io = io;
    this.#interrupt = interrupt;
    interrupt.signal.addEventListener("abort", () => this.#wake(), { once: true });
  }

  async run(): Promise<number> {
    const { vmi } = this.#options;
    const local = await import("@virtkit/local");
    const { accel, reason } = await local.chooseAccel(this.#options.accel);
    const software = reason === undefined ? "" : ` (no KVM: ${reason}; run: virtkit doctor)`;
    this.#say(`Starting ${vmi.metadata?.name} with ${accel}${software}`);
    const progress = new ProgressLines(Date.now(), (line) => this.#say(line));
    const started = await this.#start(local, accel, progress);
    if (!started) return this.#interrupt.exitCode;
    let { record } = started;
    const over = (): void => {
      this.#isOver = true;
      this.#wake();
    };
    void started.guest.ended.then(over, over);
    this.#sayReach(record);
    try {
      let outcome = await this.#stay(local, record);
      for (;;) {
        const moved = await this.#movedTo(local, record);
        if (moved) record = moved;
        if (!moved || outcome !== "ended") return await this.#leave(local, record, outcome);
        this.#say(`${vmiName(record)} has moved; this session follows it.`);
        await using _watch = await this.#watch(local, record);
        outcome = await this.#stay(local, record);
      }
    } finally {
      await started[Symbol.asyncDispose]();
    }
  }

  /** Who reaches the guest, and whom it reaches, if that is more than the default. */
  #sayReach({ published, network }: VmiRecord): void {
    for (const port of published) {
      const exposure = exposureText(port);
      this.#say(`Published: ${publishText(port)}${exposure === undefined ? "" : `, ${exposure}`}`);
    }
    if (network !== "open") return;
    this.#say("Network: open: the guest can reach this host's services and other open guests");
  }

  async #start(
    local: typeof import("@virtkit/local"),
    accel: "kvm" | "tcg",
    progress: ProgressLines,
  ): Promise<StartedVmi | undefined> {
    const { stateDirectory, vmi } = this.#options;
    try {
      return await local.startVmi({
        ...this.#options,
        accel,
        onHandoff: (entry) => this.#onHandoff(entry, progress),
        onStatus: (status) => {
          this.#onStatus(status);
        },
        onEvent: (event) => this.#onEvent(event),
        signal: this.#interrupt.signal,
      });
    } catch (error) {
      const { namespace = "default", name = "" } = vmi.metadata ?? {};
      if (!this.#interrupt.signal.aborted) {
        const code = (error as { code?: unknown }).code;
        if (noVmi.includes(String(code))) throw error;
        const message = error instanceof Error ? error.message : String(error);
        const next = `virtkit why ${name}; then virtkit run again, or virtkit rm ${name}`;
        throw new Error(`${plain(message)}\nNext: ${next}`);
      }
      const record = await local.readRecord(stateDirectory, namespace, name);
      const isOwn = record !== undefined && local.isOwnStart(record);
      // A VMI of this name that somebody else started is not this session's.
      if (isOwn) await local.removeVmi(stateDirectory, record);
      this.#say(
        isOwn
          ? `${name} was interrupted and is removed.`
          : `${name} was interrupted before anything was created.`,
      );
      return undefined;
    }
  }

  /** How it ended is said once; after that there is nothing to report on. */
  #onStatus(status: DomainStatus): void {
    if (!this.#hasEnded()) this.#last = status;
    this.#hasRun ||= status.state === "Running";
    this.#wake();
  }

  #onEvent(event: GuestEvent): void {
    if (event.kind === "incident") this.#say(`${event.reason}: ${plain(event.message)}`);
  }

  #onHandoff(entry: TraceEntry, progress: ProgressLines): void {
    // That an interrupted operation failed need not be reported.
    if (!(entry.state === "failed" && this.#interrupt.signal.aborted)) progress.tell(entry);
    if ((entry.state ?? "done") === "done") this.#stages.add(entry.stage);
    this.#wake();
  }

  /** Stays with a running VMI, as the user wants. */
  async #stay(local: typeof import("@virtkit/local"), record: VmiRecord): Promise<Outcome> {
    if (this.#options.detach) {
      await this.#until(() => this.#stages.has(this.#options.until));
      return this.#interrupt.signal.aborted ? "interrupted" : this.#hasEnded() ? "ended" : "left";
    }
    if (!this.#io.isTerminal) {
      await this.#until(() => false);
      return this.#interrupt.signal.aborted ? "interrupted" : "ended";
    }
    return await this.#join(local, record);
  }

  /** Where the guest is now, once its move is over; undefined if it has not moved. */
  async #movedTo(
    local: typeof import("@virtkit/local"),
    { namespace, name, podUid, vmi }: VmiRecord,
  ): Promise<VmiRecord | undefined> {
    const { stateDirectory } = this.#options;
    // An interrupt applies to a moving guest wherever it is; a second one waits for nothing.
    const { atOnce: signal } = this.#interrupt;
    if (signal.aborted) return undefined;
    const settled = async (): Promise<{ readonly record: VmiRecord | undefined } | undefined> => {
      const found = await local.readRecord(stateDirectory, namespace, name);
      const record = found && (await settledVmi(stateDirectory, found, this.#io));
      return record?.move ? undefined : { record };
    };
    const found = await until(settled, { interval: 200, signal });
    const isOther = found?.record?.vmi.metadata?.uid !== vmi.metadata?.uid;
    return isOther || found?.record?.podUid === podUid ? undefined : found?.record;
  }

  /** Follows the guest into the sandbox that it has moved to. */
  async #watch(
    local: typeof import("@virtkit/local"),
    record: VmiRecord,
  ): Promise<AsyncDisposable> {
    const client = await local.connectVmi(this.#options.stateDirectory, record);
    this.#isOver = false;
    this.#last = undefined;
    const follow = async (): Promise<void> => {
      try {
        for await (const event of client.events()) {
          if (event.kind === "status") this.#onStatus(event.status);
          this.#onEvent(event);
        }
      } catch {
        // The launcher has ended, and its guest with it: its note says what happened.
      }
      this.#isOver = true;
      this.#wake();
    };
    void follow();
    return client;
  }

  async #join(local: typeof import("@virtkit/local"), record: VmiRecord): Promise<Outcome> {
    const interrupts = this.#options.removeOnInterrupt;
    const keys = interrupts ? "Ctrl-C stops and removes it, " : "";
    this.#say(`Console of ${vmiName(record)}: ${keys}Ctrl-] leaves it running.`);
    const console = await local.openVmiConsole(this.#options.stateDirectory, record);
    const { stdin: input, stdout: output } = this.#io;
    const { signal } = this.#interrupt;
    let taken = false;
    console.once("error", (error: Error & { code?: unknown }) => {
      taken = error.code === "AGENT_CONSOLE_TAKEN";
    });
    const end = await attachConsole(console, { input, output, interrupts, signal });
    this.#say("");
    if (end === "left" || taken) return "left";
    if (end !== "closed") return "interrupted";
    // A closed console does not prove that the guest has ended.
    await this.#until(() => false, consoleGrace);
    if (this.#hasEnded()) return "ended";
    this.#say("The console was lost.");
    return "left";
  }

  async #leave(
    local: typeof import("@virtkit/local"),
    record: VmiRecord,
    outcome: Outcome,
  ): Promise<number> {
    const name = vmiName(record);
    const { stateDirectory } = this.#options;
    if (outcome === "left") {
      this.#say(
        `${name} is running. Next: virtkit console ${name}, virtkit ps, virtkit stop ${name}`,
      );
      return 0;
    }
    if (outcome === "interrupted") {
      this.#say(`Stopping ${name}; press Ctrl-C again to kill its guest.`);
    }
    // Asked before it is removed, with everything that could answer.
    const end = outcome === "ended" ? await local.vmiEnd(stateDirectory, record) : undefined;
    await this.#stop(local, record);
    await local.removeVmi(stateDirectory, record);
    const why = end ? ` (${end.kind}: ${plain(end.message)})` : "";
    this.#say(`${name} has ended${why} and is removed. Next: virtkit run -f FILE`);
    if (outcome === "interrupted") return this.#interrupt.exitCode;
    // Waiting for a stage without reaching it is a failure.
    const missed = this.#options.detach && !this.#stages.has(this.#options.until);
    return missed || isFailure(end) ? 1 : 0;
  }

  async #stop(local: typeof import("@virtkit/local"), record: VmiRecord): Promise<void> {
    const { stateDirectory } = this.#options;
    const { atOnce } = this.#interrupt;
    try {
      await local.stopVmi(stateDirectory, record, { signal: atOnce });
    } catch (error) {
      if (!atOnce.aborted) throw error;
      await local.stopVmi(stateDirectory, record, { gracePeriod: 0 });
    }
  }

  #hasEnded(): boolean {
    if (this.#isOver) return true;
    // A guest that is defined but not started yet is off, too.
    return this.#hasRun && this.#last !== undefined && isOff(this.#last);
  }

  async #until(condition: () => boolean, milliseconds?: number): Promise<void> {
    const { signal } = this.#interrupt;
    let isLate = false;
    const late = (): void => {
      isLate = true;
      this.#wake();
    };
    const timer = milliseconds === undefined ? undefined : setTimeout(late, milliseconds);
    while (!condition() && !this.#hasEnded() && !signal.aborted && !isLate) {
      await new Promise<void>((resolve) => {
        this.#waiters.add(resolve);
      });
    }
    clearTimeout(timer);
  }

  #wake(): void {
    for (const resolve of this.#waiters) resolve();
    this.#waiters.clear();
  }

  /** On a raw terminal a line feed alone does not begin a line. */
  #say(line: string): void {
    this.#io.stderr.write(`${line}${this.#io.isTerminal ? "\r\n" : "\n"}`);
  }
}
