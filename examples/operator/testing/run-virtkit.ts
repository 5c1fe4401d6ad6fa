import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Cluster } from "@virtkit/lab/cluster";

const program = fileURLToPath(new URL("../../../packages/cli/bin/virtkit.js", import.meta.url));

/** How a run of `virtkit` ended. */
export interface VirtkitRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of `virtkit`, as it was built, for objects of a namespace of the cluster. */
export async function runVirtkit(
  { kubeconfig }: Cluster,
  namespace: string,
  ...args: readonly string[]
): Promise<VirtkitRun> {
  const place = ["--kubeconfig", kubeconfig, "--context", "lab", "-n", namespace];
  return await new Promise((resolve, reject) => {
    const options = { timeout: 120_000, maxBuffer: 1 << 24 };
    execFile(process.execPath, [program, ...args, ...place], options, (error, out, err) => {
      const code = error ? error.code : 0;
      // Anything else is not an exit code: it was not started, or was ended because it took too long.
      if (typeof code === "number") resolve({ code, out, err });
      else reject(new Error(`virtkit ${args.join(" ")}: ${err}`, { cause: error }));
    });
  });
}
