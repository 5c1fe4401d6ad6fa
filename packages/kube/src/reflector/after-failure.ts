import { isKubeError } from "../client/kube-error.ts";

/**
 * How a reflector continues after a failure: from the version that it has if nothing was lost, or with a new
 * list if it cannot know: the version was compacted away (410) or belongs to another history, or it received
 * something that it could not read.
 */
export function afterFailure(error: unknown): "resume" | "relist" {
  if (!isKubeError(error)) return "relist";
  switch (error.code) {
    case "KUBE_CONNECTION":
    case "KUBE_TIMEOUT":
    case "KUBE_ABORTED":
      return "resume";
    case "KUBE_STATUS": {
      const status = error.status ?? 0;
      // A server whose data was restored from a backup does not know the version yet, and never may.
      const isOfAnotherHistory = error.causes.some(
        ({ reason }) => reason === "ResourceVersionTooLarge",
      );
      const isOverload = status === 429 || status >= 500;
      return isOverload && !isOfAnotherHistory ? "resume" : "relist";
    }
    default:
      return "relist";
  }
}
