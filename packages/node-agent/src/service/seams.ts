/** Everything that the agent does to its disk, to launchers and to the API server, by name. */
export const seams = [
  "take the lock",
  "write the record",
  "remove the record",
  "note the version",
  "read the Node",
  "read the VMI",
  "read the grant",
  "swap the grant",
  "write the status",
  "read the attachment Pod",
  "plug a volume",
  "unplug a volume",
  "connect to the launcher",
  "prepare the sandbox",
  "sync the guest",
  "shut the guest down",
  "kill the guest",
  "delete the domain",
  "dump the memory",
  "ask for the status",
  "clean up",
  "ask for a certificate",
  "open the way in",
  "open the way out",
  "receive the guest",
  "begin the migration",
  "cancel the migration",
  "write the migration's state",
] as const;

/** One of {@link seams}. */
export type Seam = (typeof seams)[number];

/** Called before and after each action; for tests that end the agent there. */
export type SeamHook = (seam: Seam, when: "before" | "after") => void | Promise<void>;

/** Performs the action that a seam names. */
export type Effects = <T>(seam: Seam, work: () => T | Promise<T>) => Promise<T>;

/** {@link Effects} that call a hook. */
export function effectsWith(hook?: SeamHook): Effects {
  return async (seam, work) => {
    await hook?.(seam, "before");
    const result = await work();
    await hook?.(seam, "after");
    return result;
  };
}
