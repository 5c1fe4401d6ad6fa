import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import type { GuestControl } from "@virtkit/domain-manager";
import { serveConnection } from "@virtkit/launcher/channel";
import { SimulatedGuest } from "@virtkit/testing/hypervisor";
import type { LauncherOwner } from "./real-launcher.ts";

/** Pids that no kernel gives; the next one is the next simulated launcher's. */
let lastPid = 10_000_000;

/**
 * A launcher with a simulated guest, served on a socket from this process: it outlives agents in their own processes.
 * The socket's name is its pid, and is removed when it ends.
 */
export class SocketLauncher implements Disposable {
  readonly containerID: string;
  /** How often its guest was started. */
  starts = 0;
  /** What ended its guest without being asked for: `kill`. */
  readonly calls: string[] = [];
  hasEnded = false;
  readonly #guest: SimulatedGuest;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #path: string;
  #state = "Absent";

  private constructor(directory: string, { name, uid: vmiUid, podUid }: LauncherOwner) {
    const pid = ++lastPid;
    this.containerID = `containerd://${pid.toString(16).padStart(64, "0")}`;
    this.#path = `${directory}/${pid}`;
    const identity = { namespace: "default", name, vmiUid, podUid };
    const script = { prepare: 0, boot: 0, agent: 0, shutdown: 50 };
    this.#guest = new SimulatedGuest({ identity, script });
    const vmi = { name, namespace: "default", uid: vmiUid };
    const info = () => ({ versions: [1], software: "test", vmi, verbs: [], servedNetworks: [] });
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      serveConnection(socket, { control: this.#control, info });
    });
    void this.#follow();
  }

  static async start(directory: string, owner: LauncherOwner): Promise<SocketLauncher> {
    const launcher = new SocketLauncher(directory, owner);
    await new Promise<void>((resolve, reject) => {
      launcher.#server.once("error", reject).listen(launcher.#path, resolve);
    });
    return launcher;
  }

  get isRunning(): boolean {
    return !this.hasEnded && this.#state === "Running";
  }

  get #control(): GuestControl {
    return new Proxy<GuestControl>(this.#guest, {
      get: (guest, key) => {
        const value: unknown = Reflect.get(guest, key);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          this.calls.push(String(key));
          return value.apply(guest, args);
        };
      },
    });
  }

  /** It ends with its guest, as a launcher does. */
  async #follow(): Promise<void> {
    for await (const event of this.#guest.events()) {
      if (event.kind !== "status") continue;
      const before = this.#state;
      this.#state = event.status.state;
      if (this.#state === "Running" && before !== "Running" && before !== "Paused") this.starts++;
      if (before !== "Absent" && this.#state === "Absent") this.#end();
    }
  }

  #end(): void {
    this.hasEnded = true;
    rmSync(this.#path, { force: true });
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  [Symbol.dispose](): void {
    this.#end();
    this.#guest[Symbol.dispose]();
  }
}
