/** How far a peer can drive a proxy. Times in milliseconds. */
export interface ProxyLimits {
  /** Streams at a time. Each takes at most 640 KiB. Default 64. */
  readonly streams: number;
  /** Connections that have not shown yet what they are for. Where there are more, the oldest goes. Default 32. */
  readonly waiting: number;
  /** From a connection to the stream that it is for: handshake, greeting and dialling. Default 10,000. */
  readonly setup: number;
  /** For how long one end may leave bytes untaken that the other has sent. Default 120,000. */
  readonly stall: number;
  /** For how long a stream may carry nothing. Default 1,800,000: memory that does not change is not sent. */
  readonly idle: number;
}

export const defaultLimits: ProxyLimits = {
  streams: 64,
  waiting: 32,
  setup: 10_000,
  stall: 120_000,
  idle: 1_800_000,
};

/** Milliseconds after which a peer that has gone without a word is asked for a sign of life. */
export const keepAlive = 15_000;
