/** Values that go with a message. */
export type LogDetails = Readonly<Record<string, unknown>>;

/** Logs at one level: a message, or details and then a message. */
export interface LogMethod {
  (message: string): void;
  (details: LogDetails, message?: string): void;
}

/** Where a component logs; a pino logger fits. Its methods must not throw. */
export interface Log {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
}

const nothing: LogMethod = () => {};

/** Logs nothing; the default. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
