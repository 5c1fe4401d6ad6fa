import { isKubeError, KubeError } from "../client/kube-error.ts";

/**
 * The error that a reconciler throws if trying again cannot help, such as an invalid spec. It is logged and
 * counted, and the object is left alone until it changes.
 */
export function terminalError(
  message: string,
  options: ErrorOptions & { readonly path?: string | undefined } = {},
): KubeError {
  return new KubeError("KUBE_TERMINAL", message, options);
}

/** Whether a caught value is a {@link terminalError}. */
export function isTerminal(value: unknown): boolean {
  return isKubeError(value) && value.code === "KUBE_TERMINAL";
}
