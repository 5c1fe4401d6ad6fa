import { once } from "node:events";
import { rmSync } from "node:fs";
import {
  type ClientHttp2Session,
  connect,
  createServer,
  type ServerHttp2Session,
} from "node:http2";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import { frameMessage } from "../device-plugins/grpc-message.ts";
import { decodeMessage, encodeMessage } from "../device-plugins/protobuf-message.ts";

/** A kubelet, as far as device plug-ins see it. */
export type FakeKubelet = AsyncDisposable & {
  /** Healthy IDs by resource, as the plug-ins last reported them. */
  readonly healthy: Map<string, string[]>;
  /** Requests devices from the plug-in of a resource. Returns the answer's fields, or the status if it refuses. */
  allocate(resource: string, ids: readonly string[]): Promise<Buffer | string>;
};

/** Accepts registrations in a directory until it is disposed of; then its socket is gone. */
export async function startFakeKubelet(directory: string): Promise<FakeKubelet> {
  const healthy = new Map<string, string[]>();
  const plugins = new Map<string, ClientHttp2Session>();
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on("session", (session) => sessions.add(session));
  server.on("stream", (stream) => {
    stream.respond({ ":status": 200 }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    const parts: Buffer[] = [];
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("end", () => {
      const [, endpoint = "", resource = ""] = decodeMessage(Buffer.concat(parts).subarray(5)).map(
        ([, value]) => Buffer.from(value).toString(),
      );
      stream.end(frameMessage(encodeMessage([])));
      follow(resource, join(directory, endpoint));
    });
  });
  const follow = (resource: string, socket: string): void => {
    const session = connect("http://localhost", { createConnection: () => connectSocket(socket) });
    session.on("error", () => {});
    plugins.set(resource, session);
    const watch = session.request({
      ":method": "POST",
      ":path": "/v1beta1.DevicePlugin/ListAndWatch",
    });
    watch.on("error", () => {});
    watch.end(frameMessage(encodeMessage([])));
    let bytes = Buffer.alloc(0);
    watch.on("data", (part: Buffer) => {
      bytes = Buffer.concat([bytes, part]);
      while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(1)) {
        const end = 5 + bytes.readUInt32BE(1);
        const devices = decodeMessage(bytes.subarray(5, end)).map(([, device]) =>
          decodeMessage(device).map(([, value]) => Buffer.from(value).toString()),
        );
        const ids = devices.flatMap(([id = "", health]) => (health === "Healthy" ? [id] : []));
        healthy.set(resource, ids);
        bytes = bytes.subarray(end);
      }
    });
  };
  server.listen(join(directory, "kubelet.sock"));
  await once(server, "listening");
  return {
    healthy,
    async allocate(resource, ids) {
      const call = plugins.get(resource)?.request({
        ...{ ":method": "POST", ":path": "/v1beta1.DevicePlugin/Allocate" },
      });
      if (!call) throw new Error(`${resource} is not registered`);
      let status = "0";
      call.once("trailers", (trailers) => {
        status = String(trailers["grpc-status"]);
      });
      const container = encodeMessage(ids.map((id) => [1, id]));
      call.end(frameMessage(encodeMessage([[1, container]])));
      const parts: Buffer[] = [];
      for await (const part of call) parts.push(part as Buffer);
      return status === "0" ? Buffer.concat(parts) : status;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const session of [...sessions, ...plugins.values()]) session.destroy();
      await closed;
      rmSync(join(directory, "kubelet.sock"), { force: true });
    },
  };
}
