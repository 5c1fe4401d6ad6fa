/** What a simulated container does. Times are virtual milliseconds. */
export interface ContainerScript {
  /** Until its image is there. By default 200. */
  readonly pull?: number;
  /** The image cannot be had, for this reason: `ErrImagePull`, `ErrImageNeverPull`, `InvalidImageName`. */
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
}

/** Chooses the script of a container, by its Pod and its name. */
export type ContainerScripts = (
  pod: {
    readonly namespace: string;
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
  },
  container: string,
) => ContainerScript;
