/** How far a peer can push a proxy. Times in milliseconds. */
export interface ProxyLimits {
  /** Concurrent streams. Each takes at most 640 KiB. Default 64. */
  readonly streams: number;
  /** Connections that have not shown yet what they are for. Above this number, the oldest is closed. Default 32. */
  readonly waiting: number;
  /** Time from a connection to its stream: handshake, greeting and dialling. Default 10,000. */
  readonly setup: number;
  /**
   * How long one end may leave bytes unread that the other has sent, and how long a peer may be silent that does not even
   * answer the kernel's probes. Default 120,000; the latter takes at least 11,000.
   */
  readonly stall: number;
  /** How long a stream may carry nothing. Default 1,800,000, because unchanged memory is not sent. */
  readonly idle: number;
}

export const defaultLimits: ProxyLimits = {
  streams: 64,
  waiting: 32,
  setup: 10_000,
  stall: 120_000,
  idle: 1_800_000,
};

/** Milliseconds that the kernel probes a silent peer before it gives it up: Node has it send ten probes, one per second. */
const probing = 10_000;

/**
 * Milliseconds of silence after which a peer is probed. One that does not answer is given up after the stall limit and no earlier: a
 * post-copy that loses its stream must be recovered, so a short failure of the network must not end it.
 */
export function keepAliveOf({ stall }: ProxyLimits): number {
  return Math.max(1_000, stall - probing);
}
