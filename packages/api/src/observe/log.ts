/** Values that go with a message. */
export type LogDetails = Readonly<Record<string, unknown>>;

/** Says something at one level: a message, or details and then a message. */
export interface LogMethod {
  (message: string): void;
  (details: LogDetails, message?: string): void;
}

/** Where a part says what it does. A logger of pino is one. Its methods must not throw. */
export interface Log {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
}

const nothing: LogMethod = () => {};

/** Says nothing: what a part has by default. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
