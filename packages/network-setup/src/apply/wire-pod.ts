import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { NetworkSetupError } from "../network-setup-error.ts";
import type { Operation } from "../plan/operation.ts";
import { type NetworkPlan, type PlanOptions, planBinding } from "../plan/plan-binding.ts";
import { carryOut } from "./carry-out.ts";
import { discover } from "./discover.ts";
import type { Journal, JournalEntry } from "./journal.ts";
import type { PodNetwork } from "./pod-network.ts";

/** Observer and signal of a wiring. */
export interface ApplyOptions {
  /** Called before and after each operation, with whether it changed something. */
  readonly onOperation?: (operation: Operation, changed?: boolean) => void;
  readonly signal?: AbortSignal;
}

/** The input of {@link wirePod}. */
export interface WirePodOptions extends Omit<PlanOptions, "wired" | "settings">, ApplyOptions {
  readonly journal: Journal;
}

/**
 * Connects the Pod's network to the guest: discovers, plans, writes the journal, and carries out
 * the plan. After an interruption at any point, the same call continues where it stopped. If {@link
 * unwirePod} was interrupted, that is completed first. Resolves to the plans in force, the latest
 * last.
 */
export async function wirePod(
  vmi: VirtualMachineInstance,
  network: PodNetwork,
  options: WirePodOptions,
): Promise<readonly NetworkPlan[]> {
  const { journal } = options;
  if (journal.read().some(({ state }) => state === "undoing")) {
    await unwirePod(network, options);
  }
  let entries = journal.read();
  const last = entries.at(-1);
  if (last?.state === "applying") {
    await carryOutPlan(network, last.plan, options);
    entries = replaceLast(journal, entries, "applied");
  }
  const found = await discover(network);
  const plan = planBinding(vmi, found.nics, {
    ...options,
    settings: found.settings,
    wired: wiredNetworks(entries),
  });
  if (plan.steps.length === 0) return entries.length > 0 ? entries.map((one) => one.plan) : [plan];
  entries = [...entries, { state: "applying", found, plan }];
  journal.write(entries);
  await carryOutPlan(network, plan, options);
  return replaceLast(journal, entries, "applied").map((entry) => entry.plan);
}

/**
 * Undoes everything that was done, in reverse order, and removes the journal. After an interruption
 * the same call continues. Does nothing if there is no journal.
 */
export async function unwirePod(
  network: PodNetwork,
  { journal, ...options }: ApplyOptions & { readonly journal: Journal },
): Promise<void> {
  let entries = journal.read();
  while (entries.length > 0) {
    entries = replaceLast(journal, entries, "undoing");
    const { plan } = entries.at(-1) as JournalEntry;
    for (const operation of plan.steps.toReversed().flatMap(({ undo }) => undo)) {
      await carryOutOne(network, operation, options, true);
    }
    entries = entries.slice(0, -1);
    journal.write(entries);
  }
  journal.remove();
}

async function carryOutPlan(
  network: PodNetwork,
  { steps }: NetworkPlan,
  options: ApplyOptions,
): Promise<void> {
  for (const { operation } of steps) await carryOutOne(network, operation, options, false);
}

async function carryOutOne(
  network: PodNetwork,
  operation: Operation,
  { onOperation, signal }: ApplyOptions,
  undoing: boolean,
): Promise<void> {
  signal?.throwIfAborted();
  onOperation?.(operation);
  try {
    const changed = await carryOut(network, operation);
    onOperation?.(operation, changed);
  } catch (error) {
    // What is to be undone may never have been done, or may be gone with its link.
    const gone = error instanceof NetworkSetupError && error.code === "NETWORK_LINK_MISSING";
    if (!undoing || !gone) throw error;
  }
}

function replaceLast(
  journal: Journal,
  entries: readonly JournalEntry[],
  state: JournalEntry["state"],
): readonly JournalEntry[] {
  const last = entries.at(-1);
  if (!last || last.state === state) return entries;
  const next = [...entries.slice(0, -1), { ...last, state }];
  journal.write(next);
  return next;
}

/** Networks that the journal's plans have wired and not removed again. */
function wiredNetworks(entries: readonly JournalEntry[]): readonly string[] {
  const wired = new Set<string>();
  for (const { plan } of entries) {
    for (const { network, operation } of plan.steps) {
      if (operation.kind === "deleteLink") wired.delete(network);
    }
    for (const { network } of plan.bindings) wired.add(network);
  }
  return [...wired];
}
