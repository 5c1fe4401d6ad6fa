import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { configurators } from "./configurators.ts";
import type { ConverterContext } from "./context.ts";
import type { Draft } from "./draft.ts";
import { applyHooks, type DomainHook } from "./hooks.ts";
import { malformedVmi } from "./malformed-vmi.ts";
import type { Domain } from "./model/domain.ts";
import { startDraft } from "./start-draft.ts";
import { uniformVmi } from "./uniform-vmi.ts";

/** Options of {@link convert}. */
export interface ConvertOptions {
  /** Edits of the finished domain, in order. */
  readonly hooks?: readonly DomainHook[];
}

/**
 * Converts a VMI that has its defaults to the libvirt domain that runs it.
 *
 * The function is pure: it only reads the VMI and the context, looks nothing up, and returns the same domain for
 * the same arguments. It does not validate the VMI as admission does, but the VMI must have the right shape.
 *
 * @throws ConverterError if the VMI, or what is known about its node, cannot be converted (with the path of the
 * field), or if a hook fails (with its name). No partial domain is returned.
 *
 * @example
 * ```ts
 * const domain = convert(vmi, resolveContext(vmi, environment));
 * domain.devices.disks[0]?.target.dev; // "vda"
 * ```
 */
export function convert(
  vmi: VirtualMachineInstance,
  context: ConverterContext,
  options?: ConvertOptions,
): Domain {
  try {
    return finished(draftOf(uniformVmi(vmi), context), vmi, options);
  } catch (error) {
    throw malformedVmi(error, vmi);
  }
}

/**
 * Like {@link convert}, but a VMI of the wrong shape may make it throw anything. Reads only what it needs of
 * the given object itself: an explanation records what is read.
 */
export function convertUnguarded(
  vmi: VirtualMachineInstance,
  context: ConverterContext,
  options?: ConvertOptions,
): Domain {
  return finished(draftOf(vmi, context), vmi, options);
}

function draftOf(vmi: VirtualMachineInstance, context: ConverterContext): Draft {
  const draft = startDraft(vmi, context);
  for (let at = 0; at < configurators.length; at++) configurators[at]?.configure(draft);
  return draft;
}

/** The domain after the hooks, which get the VMI as it was given. */
function finished(
  { domain }: Draft,
  vmi: VirtualMachineInstance,
  options?: ConvertOptions,
): Domain {
  return options?.hooks ? applyHooks(options.hooks, domain, vmi) : domain;
}
