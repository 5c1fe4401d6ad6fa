import { KubeError } from "@virtkit/kube";
import type { Life } from "./life.ts";

/** What a process waits for: its effect and its answer come when the schedule chooses them. */
export interface Request {
  readonly life: Life;
  /** For example `patch virtualmachineinstances`. */
  readonly what: string;
  /** `own`: not a request to the API server; only the process itself can fail. */
  readonly kind: "read" | "write" | "own";
  readonly act: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The pending requests, in the order in which they were made. */
export class Requests {
  readonly open: Request[] = [];
  /** Writes that were reported to their senders as failed, and take effect later all the same. */
  readonly late: (() => unknown)[] = [];

  async make<T>(life: Life, kind: Request["kind"], what: string, act: () => T): Promise<T> {
    return (await new Promise<unknown>((resolve, reject) => {
      if (!life.isOver) this.open.push({ life, kind, what, act, resolve, reject });
    })) as T;
  }

  take(index: number): Request {
    return this.open.splice(index, 1)[0] as Request;
  }

  /** Nobody waits any more for the requests of a process. */
  drop(life: Life): void {
    const kept = this.open.filter((request) => request.life !== life);
    this.open.length = 0;
    this.open.push(...kept);
  }

  /** Lets a write that is late take effect. Its conditions may not hold any more. */
  arriveLate(index: number): void {
    const [act] = this.late.splice(index, 1);
    try {
      act?.();
    } catch {
      // Nobody waits for the answer.
    }
  }
}

/** Carries out a request and answers it. */
export function carryOut({ act, resolve, reject }: Request): void {
  try {
    resolve(act());
  } catch (error) {
    reject(error);
  }
}

/** The error of a client that gets no answer. */
export function noAnswer(): KubeError {
  return new KubeError("KUBE_TIMEOUT", "no answer in time");
}
