import { at, text } from "../shape.ts";

/** Kubernetes' own: it says that a node is off, so that its Pods are removed and its volumes detached. */
const outOfServiceTaint = "node.kubernetes.io/out-of-service";

/** Before the boot ID in the taint's value. */
const bootPrefix = "boot-";

/** A taint of a Node. */
export interface FenceTaint {
  readonly key: string;
  readonly value: string;
  readonly effect: "NoExecute";
}

/**
 * The out-of-service taint that names a boot. Kubernetes does not read the value. To us, a taint that is left behind
 * says nothing about later boots of the node.
 *
 * @example
 * ```ts
 * fenceTaint("6f6d8c1e-27c5-4a3e-9a53-0d9fb7d1b0a2").value; // "boot-6f6d8c1e-27c5-4a3e-9a53-0d9fb7d1b0a2"
 * ```
 */
export function fenceTaint(bootID: string): FenceTaint {
  return { key: outOfServiceTaint, value: `${bootPrefix}${bootID}`, effect: "NoExecute" };
}

/** Whether a taint says that its node is off. */
export function isFence(taint: unknown): boolean {
  return at(taint, "key") === outOfServiceTaint;
}

/** The boot that an out-of-service taint names; undefined if it applies to the node's present boot, whichever that is. */
export function fencedBootOf(taint: unknown): string | undefined {
  const value = text(at(taint, "value"));
  return value.startsWith(bootPrefix) ? value.slice(bootPrefix.length) : undefined;
}
