import { once } from "node:events";
import { existsSync, type FSWatcher, watch } from "node:fs";
import { rm } from "node:fs/promises";
import {
  connect,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import { realClock, sleep } from "@virtkit/api/clock";
import { LabError } from "../lab-error.ts";
import { decodeMessage, encodeMessage } from "./protobuf-message.ts";

/** A device that a plug-in offers. */
export interface OfferedDevice {
  /** The resource that Pods ask for: `devices.kubevirt.io/tun`. */
  readonly resource: string;
  /** How many Pods can have it at the same time. */
  readonly count: number;
  /** Nodes of devices that a container gets, by the same path. */
  readonly paths: readonly string[];
}

/** A device plug-in that the kubelet knows. Disposal ends it; the kubelet then has none of its devices. */
export type DevicePlugin = AsyncDisposable & {
  /** The IDs that were handed out, in order. */
  readonly allocated: readonly string[];
  /** How often the plug-in has made itself known: again whenever the kubelet has started. */
  readonly registrations: number;
};

const version = "v1beta1";
/** A request of the kubelet names a few devices; whoever sends more is not the kubelet. */
const maxRequest = 1 << 20;

/**
 * Offers a device to the kubelet whose directory of device plug-ins this is, and again each time that the
 * kubelet starts. Resolves once the kubelet has taken it.
 */
export async function startDevicePlugin(
  directory: string,
  device: OfferedDevice,
): Promise<DevicePlugin> {
  const plugin = new KubeletPlugin(directory, device);
  await plugin.start();
  return plugin;
}

class KubeletPlugin implements DevicePlugin {
  readonly allocated: string[] = [];
  registrations = 0;
  readonly #directory: string;
  readonly #device: OfferedDevice;
  readonly #endpoint: string;
  readonly #sessions = new Set<ServerHttp2Session>();
  #server: Http2Server | undefined;
  #watcher: FSWatcher | undefined;
  /** One registration after the other: a kubelet that starts makes several changes at once. */
  #last: Promise<void> = Promise.resolve();

  constructor(directory: string, device: OfferedDevice) {
    this.#directory = directory;
    this.#device = device;
    this.#endpoint = `${device.resource.replaceAll("/", "-")}.sock`;
  }

  async start(): Promise<void> {
    await this.#offer();
    this.#watcher = watch(this.#directory, (_, name) => {
      if (name !== "kubelet.sock" || !existsSync(join(this.#directory, name))) return;
      this.#last = this.#last.then(() => this.#offerAgain());
    });
  }

  /** A kubelet that starts empties the directory, and its socket is there some time before it answers. */
  async #offerAgain(): Promise<void> {
    const socket = join(this.#directory, "kubelet.sock");
    for (let attempt = 0; attempt < 300 && existsSync(socket); attempt++) {
      try {
        await this.#offer();
        return;
      } catch {
        // One that ends meanwhile starts again, and is seen again.
        await sleep(realClock, 200);
      }
    }
  }

  async #offer(): Promise<void> {
    const path = join(this.#directory, this.#endpoint);
    if (!existsSync(path)) {
      await this.#close();
      this.#server = createServer();
      this.#server.on("session", (session) => {
        this.#sessions.add(session);
        session.once("close", () => this.#sessions.delete(session));
      });
      this.#server.on("stream", (stream, headers) => this.#serve(stream, headers));
      this.#server.listen(path);
      await once(this.#server, "listening");
    }
    await this.#register();
    this.registrations++;
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

  async #register(): Promise<void> {
    const request = encodeMessage([
      [1, version],
      [2, this.#endpoint],
      [3, this.#device.resource],
    ]);
    const socket = join(this.#directory, "kubelet.sock");
    await callUnary(socket, `/${version}.Registration/Register`, request);
  }

  #serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    // The kubelet goes away whenever it likes.
    stream.on("error", () => {});
    const verb = headers[":path"]?.split("/").pop() ?? "";
    stream.respond(
      { ":status": 200, "content-type": "application/grpc" },
      { waitForTrailers: true },
    );
    let status = "0";
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": status }));
    // Stays open for as long as the devices are there.
    if (verb === "ListAndWatch") {
      stream.write(frame(this.#devices()));
      return;
    }
    readFrame(stream).then(
      (request) => stream.end(frame(this.#answer(verb, request))),
      () => {
        status = "3"; // INVALID_ARGUMENT
        stream.end();
      },
    );
  }

  #devices(): Buffer {
    const ids = Array.from({ length: this.#device.count }, (_, at) => `${at}`);
    return encodeMessage(
      ids.map((id) => [
        1,
        encodeMessage([
          [1, id],
          [2, "Healthy"],
        ]),
      ]),
    );
  }

  /** Other calls are for plug-ins that have asked for them in their options. */
  #answer(verb: string, request: Uint8Array): Buffer {
    if (verb !== "Allocate") return encodeMessage([]);
    const containers = decodeMessage(request).map(([, container]) => {
      for (const [, id] of decodeMessage(container))
        this.allocated.push(Buffer.from(id).toString());
      const specs = this.#device.paths.map((path) =>
        encodeMessage([
          [1, path],
          [2, path],
          [3, "rw"],
        ]),
      );
      return encodeMessage(specs.map((spec) => [3, spec]));
    });
    return encodeMessage(containers.map((container) => [1, container]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watcher?.close();
    await this.#last;
    await this.#close();
    await rm(join(this.#directory, this.#endpoint), { force: true });
  }
}

/** A message of gRPC has a byte that says whether it is compressed, and four with its length, before it. */
function frame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

async function readFrame(stream: ServerHttp2Stream): Promise<Uint8Array> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of stream) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    if (bytes.length > maxRequest) throw new RangeError("the request is too long");
  }
  if (bytes.length < 5 || bytes.readUInt32BE(1) !== bytes.length - 5) {
    throw new RangeError("the request is not one message");
  }
  return bytes.subarray(5);
}

async function callUnary(socket: string, path: string, message: Uint8Array): Promise<void> {
  const session = connect("http://localhost", { createConnection: () => connectSocket(socket) });
  try {
    await new Promise<void>((resolve, reject) => {
      session.once("error", reject);
      const headers = { "content-type": "application/grpc", te: "trailers" };
      const call = session.request({ ":method": "POST", ":path": path, ...headers });
      // An answer without a message has its status among the first headers.
      const end = (answer: IncomingHttpHeaders): void => {
        const status = answer["grpc-status"];
        if (status === "0") resolve();
        else if (status !== undefined) {
          const why = decodeURIComponent(String(answer["grpc-message"] ?? status));
          reject(new LabError("LAB_CLUSTER", `${path}: the kubelet refused: ${why}`));
        }
      };
      call.once("response", end).once("trailers", end).once("error", reject);
      call.once("close", () => reject(new LabError("LAB_CLUSTER", `${path}: no answer`)));
      call.resume();
      call.end(frame(message));
    });
  } finally {
    session.destroy();
  }
}
