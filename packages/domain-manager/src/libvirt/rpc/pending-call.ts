import type { Clock } from "@virtkit/api/clock";
import { isLibvirtError, LibvirtError } from "../libvirt-error.ts";
import { type MessageHeader, messageStatus, readError } from "../protocol/message.ts";
import { malformed } from "../xdr/xdr-reader.ts";
import type { RpcProcedure } from "./rpc-procedure.ts";

/** How long a caller waits. */
export interface CallOptions {
  /** Ends the wait at once; the error's cause is the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds from the call to the answer, including time in the queue. */
  readonly timeout?: number | undefined;
}

/** Callbacks of a call. */
export interface CallHooks {
  /** Called with the call's serial number when it is sent, before anything can come back. */
  readonly onSend?: ((serial: number) => void) | undefined;
  /** Called with the result while the reply is handled, before anything that came later. */
  readonly onReply?: ((result: unknown) => void) | undefined;
}

/** A call from the moment it is made until the daemon has answered. */
export class PendingCall {
  readonly procedure: RpcProcedure;
  readonly message: Buffer;
  /** Calls of one lane keep their order; lanes take turns. */
  readonly lane: string;
  onSend: CallHooks["onSend"];
  onReply: CallHooks["onReply"];
  #resolve: ((result: unknown) => void) | undefined;
  #reject: ((error: LibvirtError) => void) | undefined;
  #cleanUp: (() => void) | undefined;

  constructor(procedure: RpcProcedure, message: Buffer, lane: string) {
    this.procedure = procedure;
    this.message = message;
    this.lane = lane;
  }

  /** Whether the caller has its answer, or has given up. */
  get settled(): boolean {
    return this.#reject === undefined;
  }

  /** Starts to wait. The last argument is called when the caller gives up. */
  start(
    resolve: (result: unknown) => void,
    reject: (error: LibvirtError) => void,
    { signal, timeout = this.procedure.timeout }: CallOptions,
    clock: Clock,
    onGiveUp: (call: PendingCall) => void,
  ): void {
    this.#resolve = resolve;
    this.#reject = reject;
    const giveUp = (code: "LIBVIRT_TIMEOUT" | "LIBVIRT_ABORTED", text: string): void => {
      onGiveUp(this);
      const { name } = this.procedure;
      const options = { procedure: name, cause: signal?.reason };
      this.fail(new LibvirtError(code, `${name}: ${text}`, options));
    };
    const onAbort = (): void => giveUp("LIBVIRT_ABORTED", "the caller gave up waiting");
    if (signal?.aborted) {
      onAbort();
      return;
    }
    const timer =
      timeout === Number.POSITIVE_INFINITY
        ? undefined
        : clock.setTimeout(
            () => giveUp("LIBVIRT_TIMEOUT", `no answer within ${timeout} ms`),
            timeout,
          );
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#cleanUp = () => {
      if (timer !== undefined) clock.clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
  }

  /**
   * Handles the daemon's reply; an answer that nobody waits for is dropped. Throws if it is
   * malformed: the caller gets the error here, all others through the end of the connection.
   */
  answer(header: MessageHeader, message: Buffer): void {
    try {
      const result = this.#read(header, message);
      if (this.settled) return;
      this.onReply?.(result);
      const resolve = this.#resolve;
      this.#settle();
      resolve?.(result);
    } catch (error) {
      if (isLibvirtError(error)) this.fail(error);
      if (!isLibvirtError(error) || error.code !== "LIBVIRT_REMOTE") throw error;
    }
  }

  #read({ program, procedure, status }: MessageHeader, message: Buffer): unknown {
    const { name, number } = this.procedure;
    if (program !== this.procedure.program || procedure !== number) {
      throw malformed(`the reply to ${name} is for procedure ${procedure} of ${program}`);
    }
    if (status === messageStatus.error) throw readError(message, name);
    if (status !== messageStatus.ok) throw malformed(`the reply to ${name} has status ${status}`);
    return this.procedure.decode(message);
  }

  fail(error: LibvirtError): void {
    const reject = this.#reject;
    this.#settle();
    reject?.(error.during(this.procedure.name));
  }

  #settle(): void {
    this.#cleanUp?.();
    this.#cleanUp = undefined;
    this.#resolve = undefined;
    this.#reject = undefined;
  }
}
