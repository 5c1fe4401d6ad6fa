/** A guest's agent, as far as access needs it. Each call has a deadline and a limit on the reply. */
export interface AccessAgent {
  ping(): Promise<void>;
  /** Makes these, and no others, the user's keys. Fails where the agent is too old to know how. */
  setAuthorizedKeys(user: string, keys: readonly string[]): Promise<void>;
  setUserPassword(user: string, password: string): Promise<void>;
  /** Runs a program in the guest and returns what it printed; fails unless it exits with 0. */
  exec(program: string, args: readonly string[]): Promise<string>;
  /** Undefined if the file is not there. */
  readFile(path: string): Promise<string | undefined>;
  writeFile(path: string, content: string): Promise<void>;
}
