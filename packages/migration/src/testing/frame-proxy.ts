import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";

/** What happens to one message: it passes, vanishes, or ends the connection before or after it. */
export type Fate = "pass" | "drop" | "cut" | "cutAfter";

/** One message on its way. `name` is the method or, of libvirt, the number of the procedure. */
export interface Passing {
  readonly direction: "request" | "reply";
  readonly name: string;
}

/** How messages are distinguished. */
interface Framing {
  /** Whole bytes of the message that begins here. */
  size(bytes: Buffer): number;
  read(message: Buffer, towards: "server" | "client", asked: Map<number, string>): Passing;
}

const control: Framing = {
  size: (bytes) => 4 + bytes.readUInt32BE(0),
  read(message, towards, asked) {
    const { id, method } = JSON.parse(message.toString("utf8", 4));
    if (towards === "server") asked.set(id, method);
    return { direction: method ? "request" : "reply", name: method ?? asked.get(id) ?? "" };
  },
};

const libvirt: Framing = {
  size: (bytes) => bytes.readUInt32BE(0),
  read: (message) => ({
    direction: message.readUInt32BE(16) === 0 ? "request" : "reply",
    name: String(message.readUInt32BE(12)),
  }),
};

/** A proxy between two ends of a Unix socket. */
abstract class SocketPairs {
  /** Refuses new connections: a link that is down, or a proxy that is dead. */
  refuse = false;
  protected readonly pairs = new Set<readonly [Socket, Socket]>();
  protected abstract readonly server: Server;

  /** Ends all connections. */
  cut(): void {
    for (const pair of this.pairs) for (const socket of pair) socket.destroy();
    this.pairs.clear();
  }

  close(): void {
    this.cut();
    this.server.close();
  }
}

/** A proxy between two ends of a Unix socket, which drops what a test names. */
export class FrameProxy extends SocketPairs {
  protected readonly server: Server;
  /** Called for each message. */
  rule: (passing: Passing) => Fate = () => "pass";

  private constructor(listen: string, to: string, framing: Framing) {
    super();
    rmSync(listen, { force: true });
    this.server = createServer((near) => {
      if (this.refuse) return void near.destroy();
      const far = connect({ path: to });
      const pair = [near, far] as const;
      this.pairs.add(pair);
      const asked = new Map<number, string>();
      this.#half(pair, "server", framing, asked);
      this.#half(pair, "client", framing, asked);
    });
    this.server.listen(listen, () => chmodSync(listen, 0o777));
  }

  static control(listen: string, to: string): FrameProxy {
    return new FrameProxy(listen, to, control);
  }

  static libvirt(listen: string, to: string): FrameProxy {
    return new FrameProxy(listen, to, libvirt);
  }

  #half(
    pair: readonly [Socket, Socket],
    towards: "server" | "client",
    framing: Framing,
    asked: Map<number, string>,
  ): void {
    const [from, to] = towards === "server" ? pair : [pair[1], pair[0]];
    let rest = Buffer.alloc(0);
    from.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 4 && rest.length >= framing.size(rest)) {
        const message = rest.subarray(0, framing.size(rest));
        rest = rest.subarray(message.length);
        const fate = this.rule(framing.read(message, towards, asked));
        if (fate === "cut") return this.cut();
        if (fate === "drop") continue;
        to.write(message);
        if (fate === "cutAfter") to.write("", () => this.cut());
      }
    });
    from.on("error", () => {});
    from.on("close", () => to.destroy());
  }
}

/** Carries a migration's data, and can be cut. */
export class DataProxy extends SocketPairs {
  protected readonly server: Server;
  #stalled = false;
  bytes = 0;

  constructor(listen: string, to: string) {
    super();
    rmSync(listen, { force: true });
    this.server = createServer({ allowHalfOpen: true }, (near) => {
      if (this.refuse) return void near.destroy();
      const far = connect({ path: to, allowHalfOpen: true });
      this.pairs.add([near, far]);
      near.on("data", (chunk) => {
        this.bytes += chunk.length;
      });
      near.pipe(far);
      far.pipe(near);
      if (this.#stalled) hold([near, far]);
      for (const [a, b] of [
        [near, far],
        [far, near],
      ] as const) {
        a.on("error", () => {});
        a.on("close", () => b.destroy());
      }
    });
    this.server.listen(listen, () => chmodSync(listen, 0o777));
  }

  /** Nothing passes any more, and neither side notices. */
  stall(): void {
    this.#stalled = true;
    for (const pair of this.pairs) hold(pair);
  }

  /** Restores it; stalled connections are cut. */
  heal(): void {
    if (this.#stalled) this.cut();
    this.#stalled = false;
    this.refuse = false;
  }
}

function hold([near, far]: readonly [Socket, Socket]): void {
  near.unpipe(far).pause();
  far.unpipe(near).pause();
}
