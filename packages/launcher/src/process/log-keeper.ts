import { closeSync, constants, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Clock, realClock } from "@virtkit/api/clock";
import { type TrimOptions, trimLog } from "./trim-log.ts";

/** What {@link keepLogsSmall} looks after. */
export interface LogKeeperOptions {
  /** Descriptors of this process's own log. */
  readonly own?: readonly number[];
  /** The folder to which TPM emulators log. */
  readonly folder: string;
  readonly limits?: TrimOptions;
  readonly clock?: Clock;
}

const defaults: TrimOptions = { mostBytes: 4 * 1024 * 1024, keptBytes: 1024 * 1024 };
const interval = 1_000;

/**
 * Once a second, trims logs that a guest can cause to grow and that nobody rotates: those of the
 * launcher and libvirtd if they are files, as in local mode, and those of TPM emulators. virtlogd
 * handles the console's and QEMU's. Ends with its disposal.
 */
export function keepLogsSmall(options: LogKeeperOptions): Disposable {
  const { own = [1, 2], folder, limits = defaults, clock = realClock } = options;
  let timer: unknown;
  const look = (): void => {
    for (const fd of own) attempt(() => trimLog(fd, limits));
    for (const file of emulatorLogs(folder)) attempt(() => trimFile(file, limits));
    timer = clock.setTimeout(look, interval);
  };
  look();
  return { [Symbol.dispose]: () => clock.clearTimeout(timer) };
}

function emulatorLogs(folder: string): string[] {
  const names = attempt(() => readdirSync(folder)) ?? [];
  return names.filter((name) => name.endsWith("-swtpm.log")).map((name) => join(folder, name));
}

function trimFile(file: string, limits: TrimOptions): void {
  const { O_RDWR, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
  const fd = openSync(file, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
  try {
    trimLog(fd, limits);
  } finally {
    closeSync(fd);
  }
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    // A log that cannot be trimmed is not a reason to end a guest, nor to write more into it each second.
    return undefined;
  }
}
