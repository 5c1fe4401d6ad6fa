import { stat } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { HostError } from "../host-error.ts";
import { OwnedFd } from "../owned-fd.ts";
import { type Namespace, namespaceFlags } from "./namespace.ts";
import type {
  OperationArguments,
  OperationName,
  OperationResult,
  OperationValue,
} from "./operations.ts";
import type { HelperAnswer, HelperRequest } from "./protocol.ts";

/** Kinds that a thread can join. The kernel lets only a single-threaded process join the others. */
const joinable: readonly string[] = ["network", "mount", "uts", "ipc", "cgroup"];

interface Pending {
  resolve(result: OperationResult<unknown>): void;
  reject(error: HostError): void;
}

/** The helper thread and what it has been asked. */
class NamespaceHelper {
  readonly #pending = new Map<number, Pending>();
  #worker: Promise<Worker> | undefined;
  #lastId = 0;

  async run(request: Omit<HelperRequest, "id">): Promise<OperationResult<unknown>> {
    this.#worker ??= this.#start();
    const worker = await this.#worker;
    const id = ++this.#lastId;
    return await new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      // An idle helper does not keep the process alive; a busy one does.
      worker.ref();
      worker.postMessage({ id, ...request } satisfies HelperRequest);
    });
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await (await worker)?.terminate();
  }

  async #start(): Promise<Worker> {
    // Threads of the pool inherit the namespaces of whoever starts it: start it here, at home.
    await stat("/");
    // Descriptors that the helper opens belong to the process: they must outlive the thread.
    const worker = new Worker(helperUrl(), { trackUnmanagedFds: false });
    worker.unref();
    worker.on("message", (answer: HelperAnswer) => this.#settle(worker, answer));
    worker.on("error", (cause) => this.#lose(worker, cause));
    worker.on("exit", () => this.#lose(worker));
    return worker;
  }

  #settle(worker: Worker, answer: HelperAnswer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if (this.#pending.size === 0) worker.unref();
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

  #lose(worker: Worker, cause?: unknown): void {
    worker.removeAllListeners();
    this.#worker = undefined;
    const message = "the helper thread ended during the operation; look at the state and try again";
    for (const { reject } of this.#pending.values()) {
      reject(new HostError("HOST_WORKER_LOST", message, { cause }));
    }
    this.#pending.clear();
  }
}

/**
 * The compiled entry point. Node 20 cannot run TypeScript in a worker, so sources under test use
 * the one that the build left in `dist`.
 */
function helperUrl(): URL {
  const compiled = import.meta.url.endsWith(".ts") ? "../../dist/namespaces/" : "./";
  return new URL(`${compiled}helper-thread.js`, import.meta.url);
}

const helper = new NamespaceHelper();

/**
 * Carries out one operation of the closed list inside the given namespaces, on a thread of its own:
 * the main thread never moves. Operations run one after the other, in the order of the calls.
 *
 * Where joining fails nothing was done. The descriptors of the result belong to the caller.
 * `HOST_WORKER_LOST` where the thread could not come back and was ended; the next call has a new one.
 */
export async function runIn<N extends OperationName>(
  namespaces: readonly Namespace[],
  operation: N,
  args: OperationArguments<N>,
): Promise<OperationResult<OperationValue<N>>> {
  for (const { kind, description } of namespaces) {
    if (joinable.includes(kind)) continue;
    const message = `${description}: a ${kind} namespace can only be joined by a new process; start a child in it`;
    throw new HostError("HOST_ARGUMENT_INVALID", message, { path: description });
  }
  const list = namespaces.map(({ fd, kind, description }) => ({
    fd,
    flag: namespaceFlags[kind],
    what: description,
  }));
  const result = await helper.run({ namespaces: list, operation, args });
  return result as OperationResult<OperationValue<N>>;
}

/** Ends the helper thread; the next {@link runIn} starts a new one. For orderly shutdown and tests. */
export async function stopNamespaceHelper(): Promise<void> {
  await helper.stop();
}
