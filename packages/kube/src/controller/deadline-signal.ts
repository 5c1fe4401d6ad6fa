import type { Clock } from "@virtkit/api/clock";
import { KubeError } from "../client/kube-error.ts";

/** A signal that is aborted with another one, or when its time is over. Disposing it leaves nothing behind. */
export interface DeadlineSignal extends Disposable {
  readonly signal: AbortSignal;
  /** Whether it was the time. */
  readonly isLate: boolean;
}

/** A {@link DeadlineSignal} of so many milliseconds from now. */
export function deadlineSignal(
  clock: Clock,
  milliseconds: number,
  parent?: AbortSignal | undefined,
): DeadlineSignal {
  const controller = new AbortController();
  let isLate = false;
  const stop = (): void => controller.abort(parent?.reason);
  const timer = clock.setTimeout(() => {
    isLate = true;
    controller.abort(new KubeError("KUBE_TIMEOUT", `not done in ${milliseconds} ms`));
  }, milliseconds);
  if (parent?.aborted) stop();
  else parent?.addEventListener("abort", stop, { once: true });
  return {
    signal: controller.signal,
    get isLate() {
      return isLate;
    },
    [Symbol.dispose]() {
      clock.clearTimeout(timer);
      parent?.removeEventListener("abort", stop);
    },
  };
}
