import { decideReadable, type Verdict } from "./decide-grant.ts";
import type { DecisionRecord, SettleRequest } from "./decision.ts";
import { freeGrant, type ReadGrant } from "./grant.ts";
import { enforce, type GuardName } from "./guards.ts";
import {
  type DestroyRequest,
  type ForgetRequest,
  mayDestroyWith,
  mayForgetWith,
} from "./may-destroy.ts";
import { mayResumeWith, maySwitchWith, type ResumeRequest } from "./may-resume.ts";
import { type Refused, refuse } from "./refusal.ts";
import type { GrantRequest } from "./request.ts";
import { settleWith } from "./settle-handover.ts";

/** All rules, as pure functions. Rules that only permit return undefined if they do. */
export interface Rules {
  decide(grant: ReadGrant, request: GrantRequest): Verdict;
  settle(
    record: DecisionRecord | undefined,
    request: SettleRequest,
  ): { readonly record: DecisionRecord } | Refused;
  mayResume(request: ResumeRequest): Refused | undefined;
  maySwitch(record: DecisionRecord | undefined, grant: ReadGrant): Refused | undefined;
  mayDestroy(request: DestroyRequest): Refused | undefined;
  mayForget(request: ForgetRequest): Refused | undefined;
}

const lookForGuest =
  "make sure that no node runs the guest, then delete the VMI and let it be created again";

/** Options of {@link createRules}, all for checkers. */
export interface RulesOptions {
  /** The guard to remove. */
  readonly without?: GuardName | undefined;
  /** Hears of each guard that is asked, whatever it answers. */
  readonly asked?: (guard: GuardName) => void;
}

/**
 * Creates the rules. `without` removes one guard, for a checker that verifies that it matters. Only a checker
 * does that: the rules of production are created once, in `decide.ts`.
 */
export function createRules({ without, asked }: RulesOptions = {}): Rules {
  const must = enforce(without, asked);
  return {
    decide(grant, request) {
      if (grant.state !== "Invalid") return decideReadable(grant, request, must);
      if (must("readable", false)) return decideReadable(freeGrant, request, must);
      return refuse("readable", `the run grant cannot be read: ${grant.problem}`, lookForGuest);
    },
    settle: (record, request) => settleWith(record, request, must),
    mayResume: (request) => mayResumeWith(request, must),
    maySwitch: (record, grant) => maySwitchWith(record, grant, must),
    mayDestroy: (request) => mayDestroyWith(request, must),
    mayForget: (request) => mayForgetWith(request, must),
  };
}
