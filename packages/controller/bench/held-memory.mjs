import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startControllers } from "./measured-process.mjs";

const program = fileURLToPath(new URL("preloaded-server.mjs", import.meta.url));

/**
 * Resident KB of a controller process that has just read this many objects, and again 20 s later.
 * @param {Record<string, unknown>} objects by plural @param {number} count
 */
export async function heldMemory(objects, count) {
  const folder = await mkdtemp(path.join(tmpdir(), "virtkit-bench-"));
  const file = path.join(folder, "objects.json");
  await writeFile(file, JSON.stringify(objects));
  const server = spawn(process.execPath, [program, file, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [port] = await once(server.stdout, "data");
  await writeFile(path.join(folder, "none"), "");
  const cluster = {
    server: `http://127.0.0.1:${String(port).trim()}`,
    "certificate-authority": path.join(folder, "none"),
  };
  const kubeconfig = path.join(folder, "kubeconfig.json");
  await writeFile(
    kubeconfig,
    JSON.stringify({ clusters: [{ cluster }], users: [{ user: { token: "none" } }] }),
  );
  const process_ = startControllers(kubeconfig);
  try {
    // Quiet: it has read and looked at everything.
    let before = -1;
    do {
      before = process_.cpu();
      await new Promise((resolve) => setTimeout(resolve, 3000));
    } while (process_.cpu() - before > 0.1);
    return process_.rss();
  } finally {
    await process_.end();
    server.kill();
    await rm(folder, { recursive: true });
  }
}
