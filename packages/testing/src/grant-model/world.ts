import type { EarlierHolder, GrantRequest } from "@virtkit/api/grant";
import type { Rules } from "@virtkit/api/grant/checking";
import type { StepKind } from "../explore/index.ts";
import { evidenceBits, holderOf, proofsFrom } from "./evidence.ts";
import {
  bootsOf,
  codeIn,
  codeOf,
  type GrantCode,
  isHandover,
  outcomes,
  readGrant,
  uidOf,
} from "./grant-code.ts";
import {
  at,
  container,
  containerOf,
  copy,
  copyOf,
  file,
  fileOf,
  get,
  grantState,
  incarnationCount,
  isStale,
  isVmiGone,
  migrationTo,
  nobody,
  podOf,
  setContainer,
  setCopy,
  setMayRun,
  setSides,
  setStale,
  setTold,
  sourceOf,
  targetOf,
  toldOf,
  vmi,
  wrong,
} from "./layout.ts";
import type { AnyGuard } from "./part-guards.ts";

/** What the steps of all parts share: the state before, the state after, the rules. */
export class World {
  readonly rules: Rules;
  readonly without: AnyGuard | undefined;
  readonly migrations: number;
  readonly pods: number;
  s: Uint8Array;
  /** The state after: a copy of `s` since {@link begin}. */
  n: Uint8Array;
  #emit: (step: string, next: Uint8Array, kind: StepKind) => void = () => undefined;
  readonly #verdicts = new Map<string, GrantCode>();
  readonly #destroys = new Map<string, boolean>();
  readonly #proven = new Map<string, boolean>();
  readonly #checks = new Map<string, boolean>();
  readonly #forgets = new Map<string, boolean>();

  constructor(
    rules: Rules,
    {
      without,
      migrations,
      pods,
      width,
    }: { without: AnyGuard | undefined; migrations: number; pods: number; width: number },
  ) {
    this.rules = rules;
    this.without = without;
    this.migrations = migrations;
    this.pods = pods;
    this.s = new Uint8Array(width);
    this.n = new Uint8Array(width);
  }

  look(s: Uint8Array, emit: (step: string, next: Uint8Array, kind: StepKind) => void): void {
    this.s = s;
    this.#emit = emit;
  }

  begin(): Uint8Array {
    this.n.set(this.s);
    return this.n;
  }

  fair(step: string): void {
    this.#emit(step, this.n, "fair");
  }

  fault(step: string): void {
    this.#emit(step, this.n, "fault");
  }

  /** The grant now. */
  get code(): GrantCode {
    return codeIn(this.s);
  }

  /** Asks the reducer, whose answers are cached because it is pure. Negative if it refuses. */
  decide(key: string, request: () => GrantRequest): GrantCode {
    const { s } = this;
    const code = this.code;
    const full = `${code} ${bootsOf(s)} ${key}`;
    let verdict = this.#verdicts.get(full);
    if (verdict === undefined) {
      const decided = this.rules.decide(readGrant(s, code), request());
      verdict = "grant" in decided ? codeOf(decided.grant) : -1;
      this.#verdicts.set(full, verdict);
    }
    return verdict;
  }

  /** Evidence of the end of who is named in the grant, as text and as proofs. */
  namedEvidence(): { readonly key: string; readonly proofs: () => ReturnType<typeof proofsFrom> } {
    const { s } = this;
    const state = get(s, at.grant);
    if (state < grantState.Claimed || state === grantState.Ended)
      return { key: "", proofs: () => [] };
    const incs = [get(s, at.holder)];
    if (state !== grantState.Claimed) incs.push(get(s, at.target));
    const bits = incs.map((inc) => evidenceBits(s, inc));
    return {
      key: bits.join(","),
      proofs: () =>
        incs.flatMap((inc, index) => proofsFrom(bits[index] ?? 0, inc, holderOf(s, inc))),
    };
  }

  /** Containers of some Pods, with the evidence of their ends. */
  earlier(isOne: (pod: number) => boolean): {
    readonly key: string;
    readonly holders: () => EarlierHolder[];
  } {
    const { s } = this;
    const incs: number[] = [];
    for (let inc = 0; inc < incarnationCount; inc++) {
      const p = podOf(s, inc);
      if (p >= 0 && containerOf(s, inc) !== container.none && isOne(p)) incs.push(inc);
    }
    const bits = incs.map((inc) => evidenceBits(s, inc));
    return {
      key: incs.map((inc, index) => `${inc}:${bits[index]}`).join(","),
      holders: () =>
        incs.map((inc, index) => {
          const holder = holderOf(s, inc);
          return { holder, proofs: proofsFrom(bits[index] ?? 0, inc, holder) };
        }),
    };
  }

  /**
   * Whether the rules let a copy be destroyed by somebody who read this grant; -1 where the VMI is gone.
   * An agent knows what its own disk and the other side say, a controller does not.
   */
  mayDestroy(
    inc: number,
    {
      grant,
      live,
      by,
      ending = false,
      record = file.none,
      acknowledged = false,
    }: {
      readonly grant: GrantCode;
      readonly live: boolean;
      readonly by: "agent" | "controller";
      readonly ending?: boolean;
      readonly record?: number;
      readonly acknowledged?: boolean;
    },
  ): boolean {
    const { s } = this;
    const m = by === "agent" ? migrationTo(s, inc) : 0;
    const other = this.#otherSide(inc);
    const bits = other < 0 ? 0 : evidenceBits(s, other);
    const released =
      by === "agent" && (copyOf(s, inc) === copy.running || (m !== 0 && toldOf(s, inc) === m));
    const own = this.#migrationFrom(inc);
    const flags =
      (live ? 1 : 0) |
      (by === "agent" ? 2 : 0) |
      (ending ? 4 : 0) |
      (released ? 8 : 0) |
      (acknowledged ? 16 : 0);
    const key = `${inc} ${grant} ${other} ${bits} ${flags} ${record} ${own} ${bootsOf(s)}`;
    return this.#keep(this.#destroys, key, () => {
      const proofs = other < 0 ? [] : proofsFrom(bits, other, holderOf(s, other));
      const refused = this.rules.mayDestroy({
        holder: holderOf(s, inc),
        grant: grant < 0 ? undefined : readGrant(s, grant),
        live,
        released,
        proofs,
        by,
        ending,
        acknowledged,
        record:
          record === file.none
            ? undefined
            : { migrationUID: uidOf(own), outcome: outcomes[record] },
      });
      return refused === undefined;
    });
  }

  #otherSide(inc: number): number {
    const { s } = this;
    if (!isHandover(s)) return -1;
    return get(s, at.holder) === inc ? get(s, at.target) : get(s, at.holder);
  }

  #migrationFrom(inc: number): number {
    const { s } = this;
    for (let m = get(s, at.migrationsUsed); m > 0; m--) if (sourceOf(s, m) === inc) return m;
    return 0;
  }

  /** Whether an incarnation is proven to have ended. The reducer says so: it would end a claim of it. */
  isProven(inc: number): boolean {
    const { s } = this;
    const bits = evidenceBits(s, inc);
    if (bits === 0) return false;
    return this.#keep(this.#proven, `${inc} ${bits} ${bootsOf(s)}`, () => {
      const holder = holderOf(s, inc);
      const claimed = { state: "Claimed", vmiUID: "vmi", epoch: 1, seq: 1, holder } as const;
      return (
        "grant" in
        this.rules.decide(claimed, {
          kind: "end",
          vmiUID: "vmi",
          proofs: proofsFrom(bits, inc, holder),
        })
      );
    });
  }

  /** Whether the rules, asked to end a claim of this incarnation, name what a person must check. */
  namesCheck(s: Uint8Array, inc: number): boolean {
    const bits = evidenceBits(s, inc);
    return this.#keep(this.#checks, `${inc} ${bits} ${bootsOf(s)}`, () => {
      const holder = holderOf(s, inc);
      const claimed = { state: "Claimed", vmiUID: "vmi", epoch: 1, seq: 1, holder } as const;
      const request = {
        kind: "end",
        vmiUID: "vmi",
        proofs: proofsFrom(bits, inc, holder),
      } as const;
      const verdict = this.rules.decide(claimed, request);
      return "refused" in verdict && verdict.whatAPersonMustCheck !== undefined;
    });
  }

  /** Whether the rules let an incarnation be forgotten. */
  mayForget(inc: number): boolean {
    const { s } = this;
    const bits = evidenceBits(s, inc);
    const grant = isVmiGone(s, inc) ? -1 : this.code;
    return this.#keep(this.#forgets, `${inc} ${bits} ${grant} ${bootsOf(s)}`, () => {
      const holder = holderOf(s, inc);
      const proofs = proofsFrom(bits, inc, holder);
      const read = grant < 0 ? undefined : readGrant(s, grant);
      return this.rules.mayForget({ holder, proofs, grant: read }) === undefined;
    });
  }

  /** The rules are pure: what they answered once they answer again. */
  #keep(answers: Map<string, boolean>, key: string, ask: () => boolean): boolean {
    let answer = answers.get(key);
    if (answer === undefined) {
      answer = ask();
      answers.set(key, answer);
    }
    return answer;
  }

  /** Puts a grant in place, as a swap that succeeds does: every other write in progress will fail. */
  swap(next: GrantCode): void {
    const { n } = this;
    const changed = codeIn(n) !== next;
    n[at.grant] = next & 7;
    n[at.holder] = (next >> 3) & 7;
    n[at.target] = (next >> 6) & 7;
    n[at.migration] = next >> 9;
    if ((next & 7) === grantState.HandingOver) {
      setSides(n, next >> 9, (next >> 3) & 7, (next >> 6) & 7);
    }
    if (changed) this.outdate();
  }

  /** Writes in progress fail from now on. */
  outdate(): void {
    if (this.without === "compare-and-swap") return;
    this.n.fill(0, at.plans, at.plans + 6);
  }

  /** vCPUs begin to run. */
  run(inc: number, as: number): void {
    const { n } = this;
    const before = copyOf(n, inc);
    if (isStale(n, inc)) n[at.wrong] = wrong.stale;
    const isWhole =
      before === copy.none ||
      before === copy.full ||
      before === copy.stopped ||
      as !== copy.running;
    if (!isWhole && before !== copy.postCopyRunning && before !== copy.postCopySource) {
      n[at.wrong] = wrong.incomplete;
    }
    if (wasReleased(n, inc)) n[at.wrong] = wrong.released;
    setCopy(n, inc, as);
    for (let other = 0; other < incarnationCount; other++) {
      if (other !== inc && copyOf(n, other) !== copy.none) setStale(n, other, true);
    }
  }

  /** The container ends, and its guest with it. */
  kill(inc: number): void {
    const { n } = this;
    setContainer(n, inc, container.dead);
    setCopy(n, inc, copy.none);
    setStale(n, inc, false);
    setMayRun(n, inc, false);
    setTold(n, inc, 0);
    const m = get(n, at.phaseOf);
    if (m !== 0 && sourceOf(n, m) === inc) {
      n[at.perform] = 0;
      n[at.finish] = 0;
      n[at.phaseOf] = 0;
    }
    const source = m !== 0 ? targetOf(n, m) : nobody;
    if (source === inc && copyOf(n, sourceOf(n, m)) !== copy.none)
      n[at.perform] = n[at.perform] === 0 ? 0 : 4;
  }

  /** One of our components decides to end a copy: it must not be the one that is still needed. */
  doom(inc: number): void {
    const { n } = this;
    if (get(n, at.vmi) === vmi.present && !isVmiGone(n, inc) && isWanted(n, inc))
      n[at.wrong] = wrong.destroyed;
  }

  /** One of our components ends a copy. */
  destroy(inc: number): void {
    this.doom(inc);
    this.kill(inc);
  }
}

/** Whether the guest would be lost with this copy, and nobody has proven that it is anyway. */
function isWanted(s: Uint8Array, inc: number): boolean {
  const value = copyOf(s, inc);
  const state = get(s, at.grant);
  const isNamed =
    state === grantState.Invalid || get(s, at.holder) === inc || get(s, at.target) === inc;
  // What an earlier VMI of this name has left is not wanted.
  if (!isNamed || state === grantState.Granted) return false;
  if (value === copy.running) return true;
  const m = migrationTo(s, inc);
  if (value === copy.full && m !== 0) {
    return (
      toldOf(s, inc) === m ||
      (get(s, at.grant) === grantState.Released && get(s, at.target) === inc)
    );
  }
  if (value === copy.postCopyRunning || value === copy.postCopyBroken) {
    return m !== 0 && containerOf(s, sourceOf(s, m)) === container.alive;
  }
  return value === copy.stopped && !isStale(s, inc) && !isReleaseKnown(s, inc);
}

/** Whether the guest continues without this source: its target, or the grant, has the release. */
function isReleaseKnown(s: Uint8Array, inc: number): boolean {
  for (let m = 1; m <= get(s, at.migrationsUsed); m++) {
    if (sourceOf(s, m) !== inc) continue;
    const target = targetOf(s, m);
    if (copyOf(s, target) === copy.running || toldOf(s, target) === m) return true;
    if (get(s, at.migration) !== m || get(s, at.grant) === grantState.Released) return true;
  }
  return false;
}

/** Whether a release of this copy was decided. */
function wasReleased(s: Uint8Array, inc: number): boolean {
  for (let m = 1; m <= get(s, at.migrationsUsed); m++) {
    if (sourceOf(s, m) === inc && fileOf(s, m) === file.released) return true;
  }
  return get(s, at.grant) === grantState.Released && get(s, at.holder) === inc;
}
