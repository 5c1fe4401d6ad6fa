import { stat } from "node:fs/promises";
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from "node:worker_threads";
import { HostError } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import { type Namespace, namespaceFlags } from "./namespace.ts";
import type {
  OperationArguments,
  OperationName,
  OperationResult,
  OperationValue,
} from "./operations.ts";
import {
  type HelperAnswer,
  type HelperData,
  type HelperRequest,
  type HelperSignals,
  newSignals,
  raise,
  signalIndex,
} from "./protocol.ts";

/** Kinds that a thread can join. The kernel lets only single-threaded processes join the others. */
const joinable: readonly string[] = ["network", "mount", "uts", "ipc", "cgroup"];

interface Pending {
  resolve(result: OperationResult<unknown>): void;
  reject(error: HostError): void;
}

/**
 * How long the main thread waits for an answer before it turns to other work. Most operations take
 * microseconds, so waiting costs less than a turn of the event loop.
 */
const shortWaitMs = 0.2;

/** The helper thread and its pending requests. */
class NamespaceHelper {
  readonly #pending = new Map<number, Pending>();
  readonly #signals: HelperSignals;
  readonly #port: MessagePort;
  readonly #worker: Worker;
  #lastId = 0;
  #lost = false;

  constructor(onEnd: () => void) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#signals = newSignals();
    const workerData: HelperData = { port: port2, signals: this.#signals };
    // Descriptors that the helper opens belong to the process: they must outlive the thread.
    const options = { workerData, transferList: [port2], trackUnmanagedFds: false };
    this.#worker = new Worker(helperUrl(), options);
    this.#worker.unref();
    this.#port.on("message", (answer: HelperAnswer) => this.#settle(answer));
    this.#port.unref();
    const end = (cause?: unknown): void => {
      onEnd();
      this.#lose(cause);
    };
    this.#worker.on("error", end);
    this.#worker.on("exit", () => end());
  }

  run(request: Omit<HelperRequest, "id">): Promise<OperationResult<unknown>> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      if (this.#lost) return reject(lost());
      this.#pending.set(id, { resolve, reject });
      const seen = Atomics.load(this.#signals, signalIndex.answers);
      this.#port.postMessage({ id, ...request } satisfies HelperRequest);
      raise(this.#signals, signalIndex.requests);
      Atomics.wait(this.#signals, signalIndex.answers, seen, shortWaitMs);
      this.#collect();
      // An idle helper does not keep the process alive; a busy one does.
      if (this.#pending.size > 0) this.#port.ref();
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  /** Takes the answers that have already arrived. */
  #collect(): void {
    for (
      let next = receiveMessageOnPort(this.#port);
      next;
      next = receiveMessageOnPort(this.#port)
    ) {
      this.#settle(next.message as HelperAnswer);
    }
  }

  #settle(answer: HelperAnswer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if (this.#pending.size === 0) this.#port.unref();
    if ("error" in answer) {
      const { code, message, path, errno, syscall } = answer.error;
      const details = {
        ...(path && { path }),
        ...(errno && { errno }),
        ...(syscall && { syscall }),
      };
      pending?.reject(new HostError(code, message, details));
      return;
    }
    const descriptors = answer.descriptors.map(({ fd, what }) => new OwnedFd(fd, what));
    pending?.resolve({ value: answer.value, descriptors });
  }

  #lose(cause?: unknown): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#collect();
    this.#port.close();
    for (const { reject } of this.#pending.values()) reject(lost(cause));
    this.#pending.clear();
  }
}

function lost(cause?: unknown): HostError {
  const message = "the helper thread ended during the operation; check the state and try again";
  return new HostError("HOST_WORKER_LOST", message, { cause });
}

let helper: Promise<NamespaceHelper> | undefined;

function startHelper(): Promise<NamespaceHelper> {
  const forget = (): void => {
    // A helper that ends late must not take its successor down with it.
    if (helper === started) helper = undefined;
  };
  // Threads of the pool inherit the namespaces of the thread that starts it: start it here, at
  // home.
  const started = stat("/").then(() => new NamespaceHelper(forget));
  return started;
}

/**
 * The compiled entry point. Node 20 cannot run TypeScript in a worker, so sources under test use
 * the one in `dist`.
 */
function helperUrl(): URL {
  const compiled = import.meta.url.endsWith(".ts") ? "../../dist/namespaces/" : "./";
  return new URL(`${compiled}helper-thread.js`, import.meta.url);
}

/**
 * Carries out one operation of the closed list inside the given namespaces, on a separate thread;
 * the main thread never moves. Operations run one after the other, in the order of the calls.
 *
 * If joining fails, nothing has been done. The caller owns the descriptors of the result.
 * `HOST_WORKER_LOST` if the thread could not return and was ended; the next call gets a new one.
 *
 * @example
 * using network = ProcessHandle.open(pid).openNamespace("network");
 * const { value, descriptors } = await runIn([network], "createTap", { name: "tap0", owner: 107 });
 */
export async function runIn<N extends OperationName>(
  namespaces: readonly Namespace[],
  operation: N,
  args: OperationArguments<N>,
): Promise<OperationResult<OperationValue<N>>> {
  for (const { kind, description } of namespaces) {
    if (joinable.includes(kind)) continue;
    const message = `${description}: only a new process can join a ${kind} namespace; start a child in it`;
    throw new HostError("HOST_ARGUMENT_INVALID", message, { path: description });
  }
  const list = namespaces.map(({ fd, kind, description }) => ({
    fd,
    flag: namespaceFlags[kind],
    what: description,
  }));
  helper ??= startHelper();
  const result = await (await helper).run({ namespaces: list, operation, args });
  return result as OperationResult<OperationValue<N>>;
}

/** Ends the helper thread; the next {@link runIn} starts a new one. For orderly shutdown and tests. */
export async function stopNamespaceHelper(): Promise<void> {
  const ending = helper;
  helper = undefined;
  await (await ending)?.stop();
}
