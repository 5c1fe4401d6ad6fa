import { once } from "node:events";
import { existsSync, type FSWatcher, watch } from "node:fs";
import { rm } from "node:fs/promises";
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { join } from "node:path";
import { type Clock, every, realClock, sleep } from "@virtkit/api/clock";
import { describeError, type Observers } from "@virtkit/api/observe";
import type { DeviceSource, PluginDevice } from "./device-source.ts";
import { callUnary, frameMessage, readMessage } from "./grpc-message.ts";
import { decodeMessage, encodeMessage, type ProtobufField } from "./protobuf-message.ts";

/** What {@link startDevicePlugin} works with. */
export interface DevicePluginOptions extends Observers {
  /** The kubelet's device plug-in directory, as this process sees it. */
  readonly directory: string;
  /** The resource that Pods request: `devices.kubevirt.io/tun`. */
  readonly resource: string;
  readonly source: DeviceSource;
  readonly clock?: Clock;
  /** Called each time `ready` changes. Must not throw. */
  readonly onReady?: (ready: boolean) => void;
}

/** A device plug-in. Disposal withdraws its devices and ends it. */
export type DevicePlugin = AsyncDisposable & {
  readonly resource: string;
  /** Whether the kubelet knows it: false before registration, and while a starting kubelet has not been informed. */
  readonly ready: boolean;
  /** Resolves as soon as the kubelet knows it, or when it ends. */
  whenReady(): Promise<void>;
  /** The IDs that were handed out, in order; the last thousand. */
  readonly allocated: readonly string[];
  /** How often the plug-in has registered: again whenever the kubelet has started. */
  readonly registrations: number;
};

const version = "v1beta1";
/** Milliseconds until the next attempt; the last value repeats. KubeVirt's. */
const delays = [1_000, 2_000, 5_000, 10_000];
/** While a kubelet starts, its socket exists some time before it answers. */
const startingDelay = 200;
/** A directory watch may miss what happens while it is set up. */
const lookInterval = 5_000;
const mostRemembered = 1_000;

/**
 * Offers devices to the kubelet whose directory of device plug-ins this is: as soon as there is a kubelet,
 * and again each time one starts. Devices that appear or disappear are reported at once. Returns immediately.
 *
 * @example
 * await using plugin = startDevicePlugin({ directory, resource: "devices.kubevirt.io/tun", source });
 * await plugin.whenReady();
 */
export function startDevicePlugin(options: DevicePluginOptions): DevicePlugin {
  const plugin = new KubeletPlugin(options);
  plugin.start();
  return plugin;
}

class KubeletPlugin implements DevicePlugin {
  readonly allocated: string[] = [];
  registrations = 0;
  readonly #options: DevicePluginOptions;
  readonly #clock: Clock;
  readonly #endpoint: string;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #listeners = new Set<ServerHttp2Stream>();
  readonly #watchers: FSWatcher[] = [];
  readonly #stop = new AbortController();
  #server: Http2Server | undefined;
  #ready = false;
  #waiting: (() => void)[] = [];
  #told: { readonly devices: readonly PluginDevice[]; readonly message: Buffer } | undefined;
  #offering: Promise<void> | undefined;
  /** Ends a pause between two attempts: a kubelet has appeared. */
  #nudge = new AbortController();
  #stopLooking: () => void = () => {};

  constructor(options: DevicePluginOptions) {
    this.#options = options;
    this.#clock = options.clock ?? realClock;
    this.#endpoint = `${options.resource.replaceAll("/", "-")}.sock`;
  }

  start(): void {
    const { directory, source } = this.#options;
    this.#watch(directory, (name) => {
      if (name === "kubelet.sock" || name === this.#endpoint) this.#look(name === "kubelet.sock");
    });
    for (const place of source.directories) this.#watch(place, () => this.#tell());
    this.#stopLooking = every(this.#clock, lookInterval, () => {
      this.#look(false);
      this.#tell();
    });
    this.#look(true);
  }

  get resource(): string {
    return this.#options.resource;
  }

  get ready(): boolean {
    return this.#ready;
  }

  whenReady(): Promise<void> {
    if (this.#ready || this.#stop.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#stopLooking();
    for (const watcher of this.#watchers) watcher.close();
    this.#setReady(false);
    for (const resolve of this.#waiting.splice(0)) resolve();
    await this.#offering;
    // The kubelet then drops all of them at once, not only when it misses this plug-in.
    for (const stream of this.#listeners) stream.end(frameMessage(encodeMessage([])));
    await this.#close();
    await rm(this.#path(this.#endpoint), { force: true });
  }

  /** A directory that does not exist yet is checked now and then. */
  #watch(place: string, changed: (name: string | null) => void): void {
    try {
      const watcher = watch(place, (_, name) => changed(name));
      watcher.on("error", (error) => this.#warn(error, "a directory is no longer watched"));
      this.#watchers.push(watcher);
    } catch (error) {
      this.#warn(error, "a directory cannot be watched");
    }
  }

  /** A starting kubelet empties its directory: then the plug-in's own socket is gone, or the kubelet's is new. */
  #look(kubeletIsNew: boolean): void {
    if (this.#stop.signal.aborted) return;
    const known = this.#ready && !kubeletIsNew && existsSync(this.#path(this.#endpoint));
    if (known) return;
    this.#setReady(false);
    if (kubeletIsNew) this.#nudge.abort();
    this.#offering ??= this.#offerUntilTaken().finally(() => {
      this.#offering = undefined;
    });
  }

  async #offerUntilTaken(): Promise<void> {
    const { signal } = this.#stop;
    for (let attempt = 0; !signal.aborted; attempt++) {
      const kubelet = existsSync(this.#path("kubelet.sock"));
      try {
        if (kubelet) {
          await this.#offer();
          this.registrations++;
          this.#setReady(true);
          return;
        }
      } catch (error) {
        this.#warn(error, "the kubelet has not accepted a device plug-in");
      }
      const patient = delays[Math.min(attempt, delays.length - 1)] ?? 0;
      const delay = kubelet && attempt < 50 ? startingDelay : patient;
      this.#nudge = new AbortController();
      await sleep(this.#clock, delay, AbortSignal.any([signal, this.#nudge.signal]));
    }
  }

  async #offer(): Promise<void> {
    const path = this.#path(this.#endpoint);
    if (!this.#server || !existsSync(path)) {
      await this.#close();
      // Left by another process.
      await rm(path, { force: true });
      this.#server = createServer();
      this.#server.on("session", (session) => {
        this.#sessions.add(session);
        session.once("close", () => this.#sessions.delete(session));
      });
      this.#server.on("stream", (stream, headers) => this.#serve(stream, headers));
      this.#server.listen(path);
      await once(this.#server, "listening");
    }
    const request = encodeMessage([
      [1, version],
      [2, this.#endpoint],
      [3, this.resource],
    ]);
    await callUnary(this.#path("kubelet.sock"), `/${version}.Registration/Register`, request);
  }

  async #close(): Promise<void> {
    if (!this.#server) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    // The kubelet keeps its connection, and a server ends with its last one.
    for (const session of this.#sessions) session.destroy();
    await closed;
    this.#server = undefined;
  }

  #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    // The kubelet may disconnect at any time.
    stream.on("error", () => {});
    const verb = headers[":path"]?.split("/").pop() ?? "";
    stream.respond(
      { ":status": 200, "content-type": "application/grpc" },
      { waitForTrailers: true },
    );
    let trailers: Record<string, string> = { "grpc-status": "0" };
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    if (verb === "ListAndWatch") {
      // Stays open for as long as there is the plug-in.
      this.#listeners.add(stream);
      stream.once("close", () => this.#listeners.delete(stream));
      const devices = this.#options.source.list();
      this.#told = { devices, message: encodeDevices(devices) };
      stream.write(frameMessage(this.#told.message));
      return;
    }
    readMessage(stream)
      .then((request) => stream.end(frameMessage(this.#answer(verb, request))))
      .catch((error: unknown) => {
        this.#warn(error, "a request from the kubelet was rejected");
        // FAILED_PRECONDITION: the Pod is not admitted, and says why.
        trailers = { "grpc-status": "9", "grpc-message": encodeURIComponent(describeError(error)) };
        stream.end();
      });
  }

  /** Informs the kubelet of changes. */
  #tell(): void {
    if (this.#listeners.size === 0) return;
    const devices = this.#options.source.list();
    // A thousand slots are not encoded every few seconds to find that they are as they were.
    if (devices === this.#told?.devices) return;
    const message = encodeDevices(devices);
    const isNew = !this.#told?.message.equals(message);
    this.#told = { devices, message };
    if (isNew) for (const stream of this.#listeners) stream.write(frameMessage(message));
  }

  /** Other calls are for plug-ins that enable them in their options. */
  #answer(verb: string, request: Uint8Array): Buffer {
    if (verb !== "Allocate") return encodeMessage([]);
    const containers = decodeMessage(request).map(([, container]): ProtobufField => {
      const ids = decodeMessage(container).map(([, id]) => Buffer.from(id).toString());
      const { nodes, env } = this.#options.source.allocate(ids);
      this.allocated.push(...ids);
      this.allocated.splice(0, this.allocated.length - mostRemembered);
      const pairs = Object.entries(env).map(
        ([key, value]): ProtobufField => [
          1,
          encodeMessage([
            [1, key],
            [2, value],
          ]),
        ],
      );
      const specs = nodes.map(
        ({ path, permissions }): ProtobufField => [
          3,
          encodeMessage([
            [1, path],
            [2, path],
            [3, permissions],
          ]),
        ],
      );
      return [1, encodeMessage([...pairs, ...specs])];
    });
    return encodeMessage(containers);
  }

  #setReady(ready: boolean): void {
    if (this.#ready === ready) return;
    this.#ready = ready;
    if (ready) for (const resolve of this.#waiting.splice(0)) resolve();
    this.#options.onReady?.(ready);
  }

  #path(name: string): string {
    return join(this.#options.directory, name);
  }

  #warn(error: unknown, what: string): void {
    const { log, resource } = this.#options;
    log?.warn({ resource, error: describeError(error) }, what);
  }
}

function encodeDevices(devices: readonly PluginDevice[]): Buffer {
  const fields = devices.map(({ id, healthy, numaNode }): ProtobufField => {
    const device: ProtobufField[] = [
      [1, id],
      [2, healthy ? "Healthy" : "Unhealthy"],
    ];
    if (numaNode !== undefined) {
      device.push([3, encodeMessage([[1, encodeMessage([[1, numaNode]])]])]);
    }
    return [1, encodeMessage(device)];
  });
  return encodeMessage(fields);
}
