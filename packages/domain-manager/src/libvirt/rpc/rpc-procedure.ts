import { LibvirtError } from "../libvirt-error.ts";
import { headerBytes, programs } from "../protocol/message.ts";
import type { Procedure } from "../protocol/notation.ts";
import { structCodec } from "../xdr/codec-for.ts";
import { malformed, XdrReader } from "../xdr/xdr-reader.ts";
import { XdrWriter } from "../xdr/xdr-writer.ts";

/**
 * Longer than the 30 seconds for which libvirtd itself waits for another job on the same domain, so
 * that its own error, which names the job, comes first.
 */
const defaultTimeout = 60_000;

/** A callable procedure: the description from `protocol/`, with its codecs. */
export interface RpcProcedure {
  readonly name: string;
  readonly program: number;
  readonly number: number;
  /** Default timeout of a call in milliseconds. */
  readonly timeout: number;
  /** The arguments as a message, with room for the header. */
  encode(args: unknown): Buffer;
  /** The result from a complete message; leftover bytes are an error. */
  decode(message: Buffer): unknown;
  /** What the call is about, for the queue: a domain's UUID, or nothing. */
  laneOf(args: unknown): string;
}

/** Prepares a procedure for calls. */
export function rpcProcedure(name: string, description: Procedure): RpcProcedure {
  const { number, program = "remote", slow = false } = description;
  const args = structCodec(description.args);
  const result = structCodec(description.result);
  return {
    name,
    program: programs[program],
    number,
    timeout: slow ? Number.POSITIVE_INFINITY : defaultTimeout,
    encode: (value) => {
      const writer = new XdrWriter(headerBytes);
      try {
        args.write(writer, value);
      } catch (error) {
        throw named(error, name, "arguments");
      }
      return writer.finish();
    },
    decode: (message) => {
      const reader = new XdrReader(message, headerBytes);
      try {
        const value = result.read(reader);
        if (reader.left > 0) throw malformed(`${reader.left} bytes are left over`);
        return value;
      } catch (error) {
        throw named(error, name, "reply");
      }
    },
    laneOf: (value) => (value as { dom?: { uuid?: string } } | undefined)?.dom?.uuid ?? "",
  };
}

/** Every error names the procedure and, for an argument, the field. */
function named(error: unknown, procedure: string, part: string): unknown {
  if (!(error instanceof LibvirtError)) return error;
  const { code, message, path, cause } = error;
  const where = path === undefined ? part : `${part}: ${path}`;
  return new LibvirtError(code, `${procedure}: ${where}: ${message}`, { procedure, path, cause });
}
