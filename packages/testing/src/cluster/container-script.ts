/** One run of a simulated container, as the program in it sees it. */
export interface ContainerProcess {
  /** The container's ID, as the kubelet reports it. */
  readonly id: string;
  /** Aborted when it has ended, by itself or not. */
  readonly over: AbortSignal;
  /** Aborted when it is asked to end: SIGTERM. */
  readonly told: AbortSignal;
  /** Ends it with an exit code; does nothing if it has ended. */
  exit(code: number): void;
}

/** What a simulated container does. Times are virtual milliseconds. */
export interface ContainerScript {
  /** Until its image is there. By default 200. */
  readonly pull?: number;
  /** Why the image cannot be pulled: `ErrImagePull`, `ErrImageNeverPull` or `InvalidImageName`. */
  readonly pullFails?: string;
  /** A volume of the Pod cannot be mounted: nothing starts. */
  readonly mountFails?: boolean;
  /** From the start until it counts as ready. By default 100. */
  readonly ready?: number;
  /** From the start until it ends by itself; never by default. */
  readonly ends?: number;
  /** With this code. By default 0. */
  readonly exitCode?: number;
  /** From SIGTERM until it ends; longer than the grace period means that it is killed. By default 100. */
  readonly stop?: number;
  /** What runs in it, from its start on. A program ends by `exit` alone; `stop` and `ends` are not looked at. */
  readonly program?: (process: ContainerProcess) => void;
}

/** The parts of a Pod by which a script is chosen. */
export interface ScriptedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Chooses the script of a container, by its Pod and its name. */
export type ContainerScripts = (pod: ScriptedPod, container: string) => ContainerScript;
