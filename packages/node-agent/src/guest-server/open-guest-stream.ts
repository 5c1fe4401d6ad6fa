import type { Duplex } from "node:stream";
import { NodeAgentError } from "../node-agent-error.ts";
import { openConsole, openUsbRedirection, openVnc } from "../streams/guest-streams.ts";
import { failed, type NodeAnswer } from "./answer-call.ts";
import type { GuestStream } from "./plan-node-request.ts";
import type { ServedGuest, VsockDialer } from "./served-guest.ts";

/** What {@link openGuestStream} needs. */
export interface StreamContext {
  readonly guest: ServedGuest;
  readonly dialVsock: VsockDialer;
  readonly signal: AbortSignal;
}

/** The guest's end of a stream. Rejects with what {@link answerStreamFailure} turns into an answer. */
export async function openGuestStream(
  planned: GuestStream,
  { guest, dialVsock, signal }: StreamContext,
): Promise<Duplex> {
  if (planned.stream === "vsock") return await dialVsock(planned, { signal });
  const { vmi, sandbox } = guest;
  if (!sandbox) {
    const message = "this node knows of no launcher for the VMI; try again";
    throw new NodeAgentError("AGENT_LAUNCHER", message, { path: "sandbox" });
  }
  switch (planned.stream) {
    case "console":
      return await openConsole(sandbox, vmi, { signal });
    case "vnc":
      return await openVnc(sandbox, vmi, { preserveSession: planned.preserveSession, signal });
    case "usbredir":
      return await openUsbRedirection(sandbox, vmi, { signal });
  }
}

/** 503 if others have it, 400 if the guest has no such socket or an unsafe one, else 500. */
export function answerStreamFailure(error: unknown): NodeAnswer {
  const { code, message, cause } = Object(error) as { [key: string]: unknown };
  const text = typeof message === "string" ? message : String(error);
  if (code === "DOMAIN_STREAM_BUSY") return failed(503, text);
  const causeCode = Reflect.get(Object(cause), "code");
  const missing = /^HOST_(?!UNSUPPORTED)/.test(typeof causeCode === "string" ? causeCode : "");
  return failed(missing ? 400 : 500, text);
}
