import type { GuardName } from "@virtkit/api/grant";
import { createRules } from "@virtkit/api/grant/checking";
import type { Model } from "../explore/index.ts";
import { agentSteps } from "./agent-steps.ts";
import { controllerSteps, isNamed } from "./controller-steps.ts";
import { endOf } from "./ends.ts";
import { faultSteps, mendingSteps } from "./environment-steps.ts";
import { freeCode } from "./grant-code.ts";
import { kubeletSteps } from "./kubelet-steps.ts";
import {
  at,
  container,
  containerOf,
  copyOf,
  get,
  incarnationCount,
  isRunning,
  nobody,
  nodeBit,
  pod,
  podOf,
  podState,
  setNode,
  setSides,
  vmi,
  width,
  wrong,
} from "./layout.ts";
import { migrationSteps } from "./migration-steps.ts";
import { type AnyGuard, partGuards } from "./part-guards.ts";
import { showState } from "./show-state.ts";
import { World } from "./world.ts";

/** How large a model is. */
export interface GrantModelOptions {
  /** Total number of launcher Pods, at most 4; every second one is on the second node. */
  readonly pods: number;
  readonly migrations: 0 | 1 | 2;
  /** Crashes of agents, launchers and libvirtd. */
  readonly crashes: number;
  readonly partitions: number;
  /** API writes that land after their time-out. */
  readonly lateWrites: 0 | 1;
  /** Faults of all other kinds. */
  readonly others: number;
  /** With a VM that remembers Pods, without one, or both. Default: both. */
  readonly vm?: "with" | "without";
  /** Takes one guard out. */
  readonly without?: AnyGuard | undefined;
}

/** The protocol of the run grant as a model; its parts use the rules of `@virtkit/api/grant`. */
export function grantModel(options: GrantModelOptions): Model<Uint8Array> {
  const { pods, migrations, without, vm } = options;
  const rules = createRules({
    without: without !== undefined && without in partGuards ? undefined : (without as GuardName),
  });
  const world = new World(rules, { without, migrations, pods, width });
  const withVm = vm === undefined ? [1, 0] : [vm === "with" ? 1 : 0];
  return {
    initial: withVm.map((hasVm) => initialState(options, hasVm)),
    next(state, emit) {
      world.look(state, emit);
      controllerSteps(world);
      agentSteps(world);
      migrationSteps(world);
      kubeletSteps(world);
      mendingSteps(world);
      faultSteps(world);
    },
    invariants: {
      "at most one running copy": twoRunning,
      "nothing that must never happen": wrongStep,
    },
    end: (state) => endOf(state, pods, world),
    canonical: (state) => sortPlans(forgetEnded(state)),
    codec: { width, write: (state, into) => into.set(state), read: (bytes) => bytes },
    show: showState,
  };
}

function initialState(options: GrantModelOptions, hasVm: number): Uint8Array {
  const s = new Uint8Array(width);
  s[at.grant] = freeCode & 7;
  s[at.holder] = nobody;
  s[at.target] = nobody;
  s[at.vmi] = vmi.present;
  s[at.hasVm] = hasVm;
  for (let n = 0; n < 2; n++) setNode(s, n, nodeBit.agent, true);
  for (let m = 1; m <= 2; m++) setSides(s, m, nobody, nobody);
  s[at.crashes] = options.crashes;
  s[at.partitions] = options.partitions;
  s[at.lateWrites] = options.lateWrites;
  s[at.others] = options.others;
  return s;
}

/** Nobody asks any more what is known about containers whose Pod is gone and forgotten. */
function forgetEnded(s: Uint8Array): Uint8Array {
  for (let inc = 0; inc < incarnationCount; inc++) {
    if (containerOf(s, inc) !== container.dead) continue;
    const p = podOf(s, inc);
    const isKept = podState(s, p) !== pod.gone || ((get(s, at.memory) >> p) & 1) === 1;
    if (isKept || isNamed(s, inc)) continue;
    s[at.incarnations + inc * 3 + 1] = 0;
    s[at.incarnations + inc * 3 + 2] = 0;
  }
  return s;
}

/** The controllers are equal: which of them has which plan does not matter. */
function sortPlans(s: Uint8Array): Uint8Array {
  const first = get(s, at.plans) * 256 + get(s, at.plans + 1);
  const second = get(s, at.plans + 2) * 256 + get(s, at.plans + 3);
  if (first >= second) return s;
  const sorted = s.slice();
  sorted.copyWithin(at.plans, at.plans + 2, at.plans + 4);
  sorted[at.plans + 2] = first >> 8;
  sorted[at.plans + 3] = first & 255;
  return sorted;
}

function twoRunning(s: Uint8Array): string | undefined {
  let count = 0;
  for (let inc = 0; inc < incarnationCount; inc++) if (isRunning(copyOf(s, inc))) count++;
  return count > 1 ? `${count} copies run` : undefined;
}

const wrongSteps: Readonly<Record<number, string>> = {
  [wrong.stale]: "a copy runs although another has run since its memory was captured",
  [wrong.incomplete]: "a copy runs with incomplete memory",
  [wrong.released]: "a released source runs",
  [wrong.destroyed]: "the copy that is still needed was destroyed",
};

function wrongStep(s: Uint8Array): string | undefined {
  return wrongSteps[get(s, at.wrong)];
}
