import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { LabError } from "../lab-error.ts";

/**
 * Runs an action while no other process of this host does. The lock is the kernel's, on a file,
 * held by a child that ends with this process: nobody waits for a killed process.
 */
export async function withHostLock<T>(file: string, action: () => Promise<T>): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  const holder = spawn("flock", [file, "sh", "-c", "echo locked; cat"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(holder, "exit");
  // Told by its exit; it may end before this process is done.
  holder.stdin.on("error", () => {});
  const isLocked = await Promise.race([
    once(holder.stdout, "data").then(() => true),
    exited.then(() => false),
  ]);
  if (!isLocked) throw new LabError("LAB_CLUSTER", `${file} could not be locked`);
  try {
    return await action();
  } finally {
    holder.stdin.end();
    await exited;
  }
}
