import { Duplex } from "node:stream";
import type { Dialer } from "../libvirt/dial.ts";
import { type EventType, events } from "../libvirt/protocol/events.ts";
import {
  headerBytes,
  type MessageHeader,
  messageStatus,
  messageTypes,
  programs,
  readHeader,
  writeHeader,
} from "../libvirt/protocol/message.ts";
import type { Procedure } from "../libvirt/protocol/notation.ts";
import { type ProcedureName, procedures } from "../libvirt/protocol/procedures.ts";
import { structs } from "../libvirt/protocol/structs.ts";
import { MessageSplitter } from "../libvirt/rpc/message-splitter.ts";
import { structCodec } from "../libvirt/xdr/codec-for.ts";
import { XdrReader } from "../libvirt/xdr/xdr-reader.ts";
import { XdrWriter } from "../libvirt/xdr/xdr-writer.ts";

/** A call as the daemon sees it. */
export interface ReceivedCall {
  readonly name: ProcedureName | "unknown";
  readonly header: MessageHeader;
  readonly args: unknown;
  readonly connection: FakeConnection;
}

/** A test's response to a call: a result, `undefined` for silence, or a complete message. */
type Handler = (call: ReceivedCall) => object | Buffer | undefined;

/** The daemon's end of one connection. */
export class FakeConnection {
  readonly #socket: Duplex;

  constructor(socket: Duplex) {
    this.#socket = socket;
  }

  /** Sends bytes as they are, in one piece. */
  send(bytes: Buffer): void {
    this.#socket.push(bytes);
  }

  /** Sends the message of an event. */
  event(type: EventType, callback: number, value: object): void {
    const { message: procedure, fields } = events[type];
    const writer = new XdrWriter(headerBytes);
    writer.i32(callback);
    structCodec(fields).write(writer, value);
    const message = writer.finish();
    writeHeader(message, {
      program: programs.remote,
      procedure,
      type: messageTypes.event,
      serial: 0,
      status: messageStatus.ok,
    });
    this.send(message);
  }

  /** Ends the connection as a daemon that exits does. */
  end(): void {
    this.#socket.push(null);
  }
}

/** The message with a result, as a daemon would send it. */
export function replyTo(name: ProcedureName, header: MessageHeader, result: object): Buffer {
  const writer = new XdrWriter(headerBytes);
  structCodec(procedures[name].result).write(writer, result);
  const message = writer.finish();
  writeHeader(message, { ...header, type: messageTypes.reply });
  return message;
}

/** The message with an error of libvirt's number, as a daemon would send it. */
export function refusalOf(header: MessageHeader, code: number): Buffer {
  const writer = new XdrWriter(headerBytes);
  const error = { code, domain: 10, message: "refused", level: 2, int1: 0, int2: 0 };
  structCodec(structs.error).write(writer, error);
  const message = writer.finish();
  writeHeader(message, { ...header, type: messageTypes.reply, status: messageStatus.error });
  return message;
}

/**
 * A daemon in this process: it authenticates, opens and registers events; the test provides all
 * other answers. It uses the client's own codecs, so it proves behaviour, not the protocol: that is
 * what the host tier is for.
 */
export class FakeDaemon {
  readonly connections: FakeConnection[] = [];
  readonly calls: ReceivedCall[] = [];
  /** While true, nobody can connect. */
  down = false;
  readonly #handler: Handler;
  #callback = 0;

  constructor(handler: Handler = () => ({})) {
    this.#handler = handler;
  }

  readonly dial: Dialer = async (_, { receive }) => {
    if (this.down) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const splitter = new MessageSplitter();
    const socket: Duplex = new Duplex({
      read() {},
      write: (chunk: Buffer, _, done) => {
        splitter.push(chunk, (message) => this.#receive(connection, message));
        done();
      },
    });
    socket.on("data", receive);
    const connection = new FakeConnection(socket);
    this.connections.push(connection);
    return socket;
  };

  #receive(connection: FakeConnection, message: Buffer): void {
    const header = readHeader(message);
    if (header.type !== messageTypes.call) {
      this.calls.push({ name: "unknown", header, args: message.subarray(headerBytes), connection });
      return;
    }
    const [name, description] = procedureOf(header);
    const args = structCodec(description.args).read(new XdrReader(message, headerBytes));
    const call = { name, header, args, connection };
    this.calls.push(call);
    const result = this.#builtIn(name) ?? this.#handler(call);
    if (result === undefined) return;
    connection.send(Buffer.isBuffer(result) ? result : replyTo(name, header, result));
  }

  #builtIn(name: ProcedureName): object | undefined {
    if (name === "authList") return { types: ["none"] };
    if (name === "eventRegister") return { callback: ++this.#callback };
    if (["connectOpen", "connectClose", "eventDeregister"].includes(name)) return {};
    return undefined;
  }
}

function procedureOf({ program, procedure }: MessageHeader): [ProcedureName, Procedure] {
  for (const [name, description] of Object.entries<Procedure>(procedures)) {
    const at = programs[description.program ?? "remote"];
    if (description.number === procedure && at === program) {
      return [name as ProcedureName, description];
    }
  }
  throw new Error(`no procedure ${procedure}`);
}
