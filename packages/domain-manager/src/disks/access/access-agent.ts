/**
 * The part of a guest's agent that access needs. Each call has a deadline and a limit on the reply.
 */
export interface AccessAgent {
  ping(): Promise<void>;
  /** Sets the user's keys to exactly these. Fails if the agent is too old to support it. */
  setAuthorizedKeys(user: string, keys: readonly string[]): Promise<void>;
  setUserPassword(user: string, password: string): Promise<void>;
  /** Runs a program in the guest and returns what it printed; fails unless it exits with 0. */
  exec(program: string, args: readonly string[]): Promise<string>;
  /** Undefined if the file is not there. */
  readFile(path: string): Promise<string | undefined>;
  writeFile(path: string, content: string): Promise<void>;
}
