import { isKubeError, KubeError } from "../client/kube-error.ts";

/**
 * What a reconciler throws when trying again cannot help, such as a spec that makes no sense: it is told to the log
 * and the metrics, and the object is left alone until it changes.
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
