import { isKubeError } from "../client/kube-error.ts";

/**
 * How a reflector goes on after a failure: from the version that it has, where nothing was lost by it, or
 * with a new list, where it cannot know: the version was compacted away (410) or is of another history, or
 * something came that it could not read.
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
