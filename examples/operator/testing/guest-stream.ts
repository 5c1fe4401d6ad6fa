import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:tls";
import WebSocket from "ws";

/** A stream of a guest through the aggregated API of a cluster, opened as virtctl opens it. */
export class GuestStream implements Disposable {
  readonly #socket: WebSocket;
  #text = "";

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      this.#text += data.toString("latin1");
    });
  }

  /** @param path as `virtualmachineinstances/demo/console` */
  static async open(kubeconfig: string, namespace: string, path: string): Promise<GuestStream> {
    const { clusters, users } = JSON.parse(readFileSync(kubeconfig, "utf8"));
    const { server, "certificate-authority-data": data } = clusters[0].cluster;
    const api = `${server.replace("https", "wss")}/apis/subresources.kubevirt.io/v1`;
    const socket = new WebSocket(`${api}/namespaces/${namespace}/${path}`, "plain.kubevirt.io", {
      headers: { authorization: `Bearer ${users[0].user.token}` },
      ca: Buffer.from(data, "base64"),
    });
    const stream = new GuestStream(socket);
    const refused = once(socket, "unexpected-response").then(async ([, response]) => {
      let reason = "";
      for await (const chunk of response) reason += chunk;
      throw new Error(`${path}: ${response.statusCode} ${reason}`);
    });
    await Promise.race([once(socket, "open"), refused]);
    return stream;
  }

  /** Everything that has arrived. */
  get text(): string {
    return this.#text;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  send(text: string): void {
    this.#socket.send(Buffer.from(text, "latin1"));
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }
}

/** The serial number of the certificate that a server presents, even if it then refuses the connection. */
export async function shownCertificate(host: string, port: number): Promise<string> {
  const socket = connect({ host, port, rejectUnauthorized: false });
  // A server that requires a client certificate closes the connection after the handshake.
  socket.on("error", () => undefined);
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(10_000) });
    return socket.getPeerCertificate().serialNumber;
  } finally {
    socket.destroy();
  }
}
