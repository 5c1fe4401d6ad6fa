import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { ConverterError } from "./converter-error.ts";
import { findDomainProblem } from "./find-domain-problem.ts";
import type { Domain } from "./model/domain.ts";

/**
 * Edits the finished domain. A hook may change the domain it is given or return another one. It must not change the
 * VMI, and must do the same for the same arguments, since explanations call it many times.
 *
 * @example
 * ```ts
 * import { convert, type DomainHook } from "@virtkit/converter";
 *
 * const quiet: DomainHook = {
 *   name: "no-sound",
 *   summary: "Guests of this platform have no sound card.",
 *   apply: (domain) => ({ ...domain, devices: { ...domain.devices, sounds: [] } }),
 * };
 * convert(vmi, context, { hooks: [quiet] });
 * ```
 */
export interface DomainHook {
  /** Its name in errors and explanations. */
  readonly name: string;
  /** One sentence on what it does, for explanations. */
  readonly summary?: string;
  apply(domain: Domain, vmi: VirtualMachineInstance): Domain;
}

/**
 * Runs hooks in order, each on the result of the previous one.
 *
 * @throws ConverterError `CONVERTER_HOOK_FAILED` with the hook's name, if one throws, or returns something that
 * is not a domain or cannot be written as XML.
 */
export function applyHooks(
  hooks: readonly DomainHook[],
  domain: Domain,
  vmi: VirtualMachineInstance,
): Domain {
  return hooks.reduce((current, hook) => applyHook(hook, current, vmi), domain);
}

/** Runs one hook; see {@link applyHooks}. */
export function applyHook(hook: DomainHook, domain: Domain, vmi: VirtualMachineInstance): Domain {
  const path = `hook "${hook.name}"`;
  let result: Domain;
  try {
    result = hook.apply(domain, vmi);
  } catch (cause) {
    const message = `failed: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new ConverterError("CONVERTER_HOOK_FAILED", message, { path, cause });
  }
  const misfit = findDomainProblem(result);
  if (!misfit) return result;
  const message = `did not return a domain: ${misfit.path || "it"} ${misfit.message}`;
  throw new ConverterError("CONVERTER_HOOK_FAILED", message, { path });
}
