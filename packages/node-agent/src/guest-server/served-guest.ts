import type { Duplex } from "node:stream";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { GuestControl, MayRun } from "@virtkit/domain-manager";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** The parts of a guest on this node that requests from the API server need. */
export interface ServedGuest {
  readonly vmi: VirtualMachineInstance;
  /** Absent while its launcher is unknown here: streams and verbs then fail with 500. */
  readonly sandbox?: Sandbox;
  /** The connection to its launcher. Rejects if the launcher cannot be reached. */
  launcher(options: { readonly signal: AbortSignal }): Promise<GuestControl>;
  /** The claim under which the guest runs here. Rejects if this node may not run it. */
  mayRun(options: { readonly signal: AbortSignal }): Promise<MayRun>;
}

/** Opens a connection to a port of a guest over VSOCK. */
export type VsockDialer = (
  target: { readonly cid: number; readonly port: number; readonly tls: boolean },
  options: { readonly signal: AbortSignal },
) => Promise<Duplex>;
