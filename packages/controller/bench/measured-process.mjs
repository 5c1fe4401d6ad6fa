import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../src/testing/controller-process.mjs", import.meta.url));
/** The length of a Linux clock tick, in seconds. */
const tick = 1 / 100;

/** The controllers in their own process. @param {string} kubeconfig */
export function startControllers(kubeconfig) {
  const child = spawn(process.execPath, [program, kubeconfig], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const file = (/** @type {string} */ name) => readFileSync(`/proc/${child.pid}/${name}`, "utf8");
  return {
    /** Seconds of CPU so far. */
    cpu() {
      const fields = file("stat").split(") ")[1]?.split(" ") ?? [];
      return (Number(fields[11]) + Number(fields[12])) * tick;
    },
    /** Resident memory in KB. */
    rss: () => Number(/VmRSS:\s+(\d+)/.exec(file("status"))?.[1]),
    async end() {
      const ended = once(child, "exit");
      if (child.kill()) await ended;
    },
  };
}
