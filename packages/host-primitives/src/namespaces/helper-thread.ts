/**
 * Entry point of the helper thread. It joins the namespaces of a request, carries out the
 * operation, and returns, all synchronously. Nothing asynchronous runs here: it would run on the
 * process's shared thread pool, which is in other namespaces.
 */
import { constants, openSync } from "node:fs";
import { receiveMessageOnPort, workerData } from "node:worker_threads";
import { HostError } from "../host-error.ts";
import { fileFlags } from "../safe-path/file-calls.ts";
import { namespaceFiles, namespaceFlags } from "./namespace.ts";
import { ownFileSystemState, returnToRoot, setns, unshare } from "./namespace-calls.ts";
import { type OperationResult, operations } from "./operations.ts";
import {
  type HelperAnswer,
  type HelperData,
  type HelperRequest,
  type PlainError,
  raise,
  signalIndex,
} from "./protocol.ts";

const { port, signals } = workerData as HelperData;

// Without this, joining a mount namespace is refused, and it would move the root of all threads.
unshare(ownFileSystemState);
const readOnly = constants.O_RDONLY | fileFlags.closeOnExec;
const root = openSync("/", fileFlags.path | constants.O_DIRECTORY | fileFlags.closeOnExec);
const homes = new Map(
  (["network", "mount", "uts", "ipc", "cgroup"] as const).map((kind) => [
    namespaceFlags[kind],
    openSync(`/proc/thread-self/ns/${namespaceFiles[kind]}`, readOnly),
  ]),
);

/** Operations that create a namespace, and its kind. */
const namespacesMade: Readonly<Record<string, number>> = {
  persistNewNetwork: namespaceFlags.network,
  createRootNamespace: namespaceFlags.mount,
};

/** Flags of the namespaces that the thread has left. */
const away = new Set<number>();

function goHome(): void {
  for (const flag of [...away].reverse()) {
    setns(homes.get(flag) ?? -1, flag, "the helper thread's own namespace");
    away.delete(flag);
    if (flag === namespaceFlags.mount) returnToRoot(root);
  }
}

function carryOut(request: HelperRequest): OperationResult<unknown> {
  if (!Object.hasOwn(operations, request.operation)) {
    const message = `there is no operation ${JSON.stringify(request.operation)}; use one of the operations list`;
    throw new HostError("HOST_ARGUMENT_INVALID", message, { path: "operation" });
  }
  const run = operations[request.operation as keyof typeof operations];
  for (const { fd, flag, what } of request.namespaces) {
    setns(fd, flag, what);
    away.add(flag);
  }
  // Operations that create a namespace leave the thread in it, or halfway there if they fail.
  const made = namespacesMade[request.operation];
  if (made !== undefined) away.add(made);
  return (run as (args: unknown) => OperationResult<unknown>)(request.args);
}

function plain(error: unknown): PlainError {
  const { code, message, path, errno, syscall } = HostError.from(error, "operation");
  return { code, message, path, errno, syscall };
}

function answer(request: HelperRequest): HelperAnswer {
  try {
    const { value, descriptors } = carryOut(request);
    const given = descriptors.map((descriptor) => ({
      what: descriptor.what,
      fd: descriptor.release(),
    }));
    return { id: request.id, value, descriptors: given };
  } catch (error) {
    return { id: request.id, error: plain(error) };
  }
}

function serve(request: HelperRequest): void {
  const reply = answer(request);
  try {
    goHome();
  } catch {
    // A thread that is stuck in another namespace must not serve anyone. End it: the main thread
    // then fails what was pending and starts a new one.
    process.exit(1);
  }
  port.postMessage(reply);
  raise(signals, signalIndex.answers);
}

// Waits in the kernel, not in an event loop: nothing asynchronous can ever run on this thread, and
// a request is picked up at once. worker.terminate() ends it from outside.
for (;;) {
  const seen = Atomics.load(signals, signalIndex.requests);
  for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
    serve(next.message as HelperRequest);
  }
  Atomics.wait(signals, signalIndex.requests, seen);
}
