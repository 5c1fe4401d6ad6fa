/** A pure function as `virtkit batch` calls it: plain JSON in, plain JSON out, throws on bad input. */
export type BatchFunction = (input: unknown, context: unknown) => unknown;

/** A group of functions that is loaded together, on the first call of one of them. */
export interface BatchArea {
  /** Names of the functions, known before the module is loaded. */
  readonly functions: readonly string[];
  /** Whether an input fits only this area, if another has a function of that name. */
  accepts?(fn: string, input: unknown): boolean;
  load(): Promise<{ readonly functions: Readonly<Record<string, BatchFunction>> }>;
}
