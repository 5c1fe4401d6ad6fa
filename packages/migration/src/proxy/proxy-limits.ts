/** How far a peer can push a proxy. Times in milliseconds. */
export interface ProxyLimits {
  /** Concurrent streams. Each takes at most 640 KiB. Default 64. */
  readonly streams: number;
  /** Connections that have not shown yet what they are for. Above this number, the oldest is closed. Default 32. */
  readonly waiting: number;
  /** Time from a connection to its stream: handshake, greeting and dialling. Default 10,000. */
  readonly setup: number;
  /** How long one end may leave bytes unread that the other has sent. Default 120,000. */
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

/** Milliseconds after which a silent peer is probed. */
export const keepAlive = 15_000;
