import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("./proxy-child.mjs", import.meta.url));

/** One side's proxy of a migration, in the network of its node; see `proxy-child.mjs`. */
export class ProxyProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  ports = { controlPort: 0, dataPort: 0 };

  private constructor(network: string) {
    this.#child = spawn("nsenter", [`--net=${network}`, process.execPath, script], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
  }

  /** Rejects with what the proxy says if it does not start. */
  static async start(network: string, config: object): Promise<ProxyProcess> {
    const proxy = new ProxyProcess(network);
    proxy.#child.send(config);
    const ended = once(proxy.#child, "exit").then(() => [{ error: { message: "it ended" } }]);
    const [told] = await Promise.race([once(proxy.#child, "message"), ended]);
    if (told.ports) {
      proxy.ports = told.ports;
      return proxy;
    }
    await proxy[Symbol.asyncDispose]();
    throw Object.assign(new Error(told.error.message), { code: told.error.code });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}
