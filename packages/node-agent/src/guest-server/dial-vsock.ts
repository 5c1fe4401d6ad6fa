import { existsSync } from "node:fs";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { type Clock, realClock } from "@virtkit/api/clock";
import { describeError } from "@virtkit/api/observe";
import { connectVsock, socketStream, type VsockAddress } from "@virtkit/host-primitives/sockets";
import type { Credentials } from "@virtkit/pki";
import { NodeAgentError } from "../node-agent-error.ts";
import type { VsockDialer } from "./served-guest.ts";

/** What {@link vsockDialer} works with. */
export interface VsockDialerOptions {
  /**
   * The certificate that guests are shown if TLS is requested: `vsockIdentity(nodeName)` and nothing else. A
   * guest can pass the handshake on to any server, so it must be an identity that no server of the platform
   * accepts.
   */
  readonly credentials?: (options: { readonly signal: AbortSignal }) => Promise<Credentials>;
  /** Milliseconds until a guest that does not answer is given up. Default 5,000. */
  readonly timeout?: number;
  /** Default: the kernel's VSOCK. */
  readonly connect?: (
    address: VsockAddress,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ) => Promise<Duplex>;
  /** What is there if the kernel carries VSOCK to guests. Default `/sys/class/misc/vhost-vsock`. */
  readonly vhost?: string;
  /** Default: this process's clock. */
  readonly clock?: Clock;
}

/** 0, 1 and 2 are the hypervisor, this node and the host under it; all ones is anybody. */
const guestCids = { first: 3, last: 0xffff_fffe } as const;

/**
 * Dials ports of guests over VSOCK, with TLS on request, as KubeVirt does: TLS 1.3, the node agent shows a
 * certificate, and the guest's own is not checked, because the CID already identifies it.
 */
export function vsockDialer({
  credentials,
  timeout = 5_000,
  connect = async (address, options) => socketStream(await connectVsock(address, options)),
  vhost = "/sys/class/misc/vhost-vsock",
  clock = realClock,
}: VsockDialerOptions = {}): VsockDialer {
  return async (target, { signal }) => {
    const { cid, port, tls } = target;
    const failed = (message: string, cause?: unknown): NodeAgentError =>
      new NodeAgentError("AGENT_VSOCK", message, { path: `CID ${cid} port ${port}`, cause });
    const obstacle = obstacleTo(target, { vhost, hasCredentials: credentials !== undefined });
    if (obstacle !== undefined) throw failed(obstacle);
    const shown = tls ? await credentials?.({ signal }) : undefined;
    const stream = await connect({ cid, port }, { timeoutMs: timeout, signal }).catch((cause) => {
      throw failed(cause instanceof Error ? cause.message : String(cause), cause);
    });
    // If it breaks before somebody listens, its receiver finds that in its `errored`.
    stream.on("error", () => {});
    if (!shown) return stream;
    return await secured(stream, shown, { timeout, signal, clock }).catch((cause) => {
      stream.destroy();
      const why = describeError(cause);
      throw failed(`TLS with port ${port} of the guest with CID ${cid} failed: ${why}`, cause);
    });
  };
}

/** Why nobody is to be dialled. */
function obstacleTo(
  { cid, tls }: { readonly cid: number; readonly tls: boolean },
  { vhost, hasCredentials }: { readonly vhost: string; readonly hasCredentials: boolean },
): string | undefined {
  if (!Number.isInteger(cid) || cid < guestCids.first || cid > guestCids.last) {
    return `status.VSOCKCID is ${cid}, which is not a guest's; check what wrote it to the VMI`;
  }
  // Without it the kernel of a node that is a guest itself would carry this to the host under it.
  if (!existsSync(vhost)) {
    return `this node cannot reach CID ${cid}: the kernel has not loaded vhost_vsock; run modprobe vhost_vsock on the node, or use a kernel with CONFIG_VHOST_VSOCK`;
  }
  if (tls && !hasCredentials) {
    return "this node agent has no certificate to show to guests; ask without TLS, or give it one";
  }
  return undefined;
}

function secured(
  stream: Duplex,
  { certificate, privateKey }: Credentials,
  {
    timeout,
    signal,
    clock,
  }: { readonly timeout: number; readonly signal: AbortSignal; readonly clock: Clock },
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const secure = connectTls({
      ...{ socket: stream, cert: certificate, key: privateKey, minVersion: "TLSv1.3" },
      rejectUnauthorized: false,
    });
    const end = (error?: Error): void => {
      clock.clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      // The receiver of the stream learns of a later failure from its close.
      secure.on("error", () => {});
      secure.off("error", end);
      secure.off("close", onClose);
      if (error) {
        secure.destroy();
        reject(error);
      } else {
        resolve(secure);
      }
    };
    const onAbort = (): void => end(new Error("the caller has gone"));
    const onClose = (): void => end(new Error("the guest has closed the connection"));
    const late = `the guest has not finished the handshake within ${timeout} ms`;
    const timer = clock.setTimeout(() => end(new Error(late)), timeout);
    signal.addEventListener("abort", onAbort, { once: true });
    secure.once("secureConnect", () => end());
    secure.once("error", end);
    secure.once("close", onClose);
  });
}
