/** One life of a process: what belongs to it stops with it, as with SIGKILL. */
export class Life {
  isOver = false;
  readonly owner: string;

  constructor(owner: string) {
    this.owner = owner;
  }

  /** Nothing in a killed process learns of its end: no signal is raised. */
  readonly signal: AbortSignal = new AbortController().signal;
}
