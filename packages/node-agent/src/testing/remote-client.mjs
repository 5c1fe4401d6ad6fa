// A client of an API server in the parent process: every call and every answer is a message. It ends with either process.
import { KubeError } from "@virtkit/kube";

/** @typedef {import("@virtkit/kube").KubeClient} KubeClient */
/** @typedef {{ readonly id: number; readonly answer?: unknown; readonly event?: unknown; readonly error?: any }} Told */

let last = 0;
/** @type {Map<number, (told: Told) => void>} */
const waiting = new Map();

process.on("message", (/** @type {Told} */ told) => waiting.get(told.id)?.(told));

/** @param {any} error */
function kubeError({ code, message, ...rest }) {
  return new KubeError(code, message, rest);
}

/** @param {readonly any[]} args */
function signalOf(args) {
  /** @type {AbortSignal | undefined} */
  const signal = args.map((each) => each?.signal).find((each) => each !== undefined);
  const sent = args.map((each) => (each?.signal ? { ...each, signal: undefined } : each));
  return { signal, sent };
}

/** @param {string} method @param {any[]} args @returns {Promise<any>} */
async function call(method, ...args) {
  const { signal, sent } = signalOf(args);
  signal?.throwIfAborted();
  const id = ++last;
  return await new Promise((resolve, reject) => {
    const onAbort = () => settle(() => reject(new KubeError("KUBE_ABORTED", "nobody waits")));
    /** @param {() => void} how */
    const settle = (how) => {
      waiting.delete(id);
      signal?.removeEventListener("abort", onAbort);
      how();
    };
    signal?.addEventListener("abort", onAbort);
    waiting.set(id, ({ answer, error }) =>
      settle(() => (error ? reject(kubeError(error)) : resolve(answer))),
    );
    process.send?.({ id, method, args: sent });
  });
}

/** @param {any[]} args @returns {AsyncGenerator<any>} */
async function* watch(...args) {
  const { signal, sent } = signalOf(args);
  const id = ++last;
  /** @type {Told[]} */
  const told = [];
  let wake = () => {};
  const stop = () => wake();
  signal?.addEventListener("abort", stop);
  waiting.set(id, (each) => {
    told.push(each);
    wake();
  });
  process.send?.({ id, method: "watch", args: sent });
  try {
    while (!signal?.aborted) {
      for (const { event, error } of told.splice(0)) {
        if (error) throw kubeError(error);
        if (event === undefined) return;
        yield event;
      }
      if (told.length > 0) continue;
      await new Promise((resolve) => {
        wake = () => resolve(undefined);
      });
    }
  } finally {
    waiting.delete(id);
    signal?.removeEventListener("abort", stop);
    process.send?.({ id, method: "stop", args: [] });
  }
}

/** @type {KubeClient} */
export const remoteClient = /** @type {any} */ ({
  ...Object.fromEntries(
    ["get", "list", "create", "update", "patch", "delete", "request"].map((method) => [
      method,
      (/** @type {any[]} */ ...args) => call(method, ...args),
    ]),
  ),
  watch,
});
