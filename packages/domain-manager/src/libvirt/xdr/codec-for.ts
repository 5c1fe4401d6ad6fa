import { isLibvirtError, LibvirtError } from "../libvirt-error.ts";
import { enumerations } from "../protocol/enums.ts";
import { flagWords } from "../protocol/flags.ts";
import type { Fields } from "../protocol/notation.ts";
import { structs } from "../protocol/structs.ts";
import { type Codec, stringLimit } from "./codec.ts";
import { parametersCodec, receivedParametersCodec } from "./parameters-codec.ts";
import { malformed } from "./xdr-reader.ts";
import { unfit } from "./xdr-writer.ts";

const scalars: Readonly<Record<string, Codec>> = {
  u8: ranged(0xff),
  u16: ranged(0xffff),
  u32: { smallest: 4, read: (from) => from.u32(), write: (to, value) => to.u32(value as number) },
  i32: { smallest: 4, read: (from) => from.i32(), write: (to, value) => to.i32(value as number) },
  u64: { smallest: 8, read: (from) => from.u64(), write: (to, value) => to.u64(value as bigint) },
  i64: { smallest: 8, read: (from) => from.i64(), write: (to, value) => to.i64(value as bigint) },
  bool: {
    smallest: 4,
    // For an int that means yes or no, a daemon may send any number for yes.
    read: (from) => from.i32() !== 0,
    write: (to, value) => to.bool(value as boolean),
  },
  string: {
    smallest: 4,
    read: (from) => from.string(stringLimit),
    write: (to, value) => to.string(value as string, stringLimit),
  },
  uuid: {
    smallest: 16,
    read: (from) => from.uuid(),
    write: (to, value) => to.uuid(value as string),
  },
};

const compiled = new Map<string, Codec>();

/** The codec for a word of the notation. Codecs are made on first use and kept. */
export function codecFor(word: string): Codec {
  let codec = compiled.get(word);
  if (!codec) {
    codec = compile(word);
    compiled.set(word, codec);
  }
  return codec;
}

function compile(word: string): Codec {
  const scalar = Object.hasOwn(scalars, word) ? scalars[word] : undefined;
  if (scalar) return scalar;
  if (word.endsWith("?")) return optional(codecFor(word.slice(0, -1)));
  const [, item = "", limit] = /^([^[]*)(?:\[(\d+)\])?$/.exec(word) ?? [];
  if (limit !== undefined) return bounded(item, Number(limit));
  const [kind, name = ""] = word.split(":");
  if (kind === "enum") return enumeration(name, table<readonly string[]>(enumerations, name));
  if (kind === "flags")
    return flags(name, table<Readonly<Record<string, number>>>(flagWords, name));
  return structCodec(table<Fields>(structs, word));
}

/** Only reached by a mistake in the tables of this package. */
function table<T>(tables: Readonly<Record<string, unknown>>, name: string): T {
  if (!Object.hasOwn(tables, name)) throw new Error(`the protocol's notation has no "${name}"`);
  return tables[name] as T;
}

function bounded(item: string, limit: number): Codec {
  if (item === "bytes") return byteString(limit);
  if (item === "chars") return characters(limit);
  if (item === "params") return receivedParametersCodec(limit);
  if (item.startsWith("params:")) return parametersCodec(item.slice("params:".length), limit);
  return list(codecFor(item), limit);
}

function ranged(limit: number): Codec {
  return {
    smallest: 4,
    read: (from) => {
      const value = from.u32();
      if (value > limit) throw malformed(`a number is ${value}, at most ${limit} is allowed`);
      return value;
    },
    write: (to, value) => {
      if ((value as number) > limit) throw unfit(value, `at most ${limit}`);
      to.u32(value as number);
    },
  };
}

function optional(item: Codec): Codec {
  return {
    smallest: 4,
    read: (from) => (from.bool() ? item.read(from) : undefined),
    write: (to, value) => {
      to.bool(value !== undefined);
      if (value !== undefined) item.write(to, value);
    },
  };
}

function list(item: Codec, limit: number): Codec {
  return {
    smallest: 4,
    read: (from) => {
      const count = from.count(limit, item.smallest);
      const items: unknown[] = [];
      for (let i = 0; i < count; i++) items.push(item.read(from));
      return items;
    },
    write: (to, value) => {
      if (!Array.isArray(value)) throw unfit(value, "a list");
      to.count(value.length, limit);
      let index = 0;
      try {
        for (; index < value.length; index++) item.write(to, value[index]);
      } catch (error) {
        throw located(error, `[${index}]`);
      }
    },
  };
}

function byteString(limit: number): Codec {
  return {
    smallest: 4,
    read: (from) => from.bytes(limit),
    write: (to, value) => to.bytes((value ?? new Uint8Array(0)) as Uint8Array, limit),
  };
}

function characters(length: number): Codec {
  return {
    smallest: 4 * length,
    read: (from) => {
      const codes = Array.from({ length }, () => from.u32() & 0xff);
      const end = codes.indexOf(0);
      return Buffer.from(end < 0 ? codes : codes.slice(0, end)).toString("utf8");
    },
    write: (_, value) => {
      throw unfit(value, "nothing: this field is only ever received");
    },
  };
}

function enumeration(name: string, names: readonly string[]): Codec {
  return {
    smallest: 4,
    read: (from) => {
      const number = from.i32();
      return names[number] ?? number;
    },
    write: (to, value) => {
      const number = typeof value === "number" ? value : names.indexOf(value as string);
      if (number === -1) throw unfit(value, `a name of ${name} (${names.join(", ")})`);
      to.i32(number);
    },
  };
}

function flags(word: string, bits: Readonly<Record<string, number>>): Codec {
  return {
    smallest: 4,
    read: (from) => from.u32(),
    write: (to, value = []) => {
      if (!Array.isArray(value)) throw unfit(value, `a list of flags of ${word}`);
      let sum = 0;
      for (const name of value) {
        const bit = Object.hasOwn(bits, name) ? bits[name] : undefined;
        if (bit === undefined)
          throw unfit(name, `a flag of ${word} (${Object.keys(bits).join(", ")})`);
        sum |= bit;
      }
      to.u32(sum >>> 0);
    },
  };
}

/** The codec of fields in their order. An error in an argument names the field. */
export function structCodec(fields: Fields): Codec {
  const members = Object.entries(fields).map(([name, word]) => ({ name, codec: codecFor(word) }));
  return {
    smallest: members.reduce((sum, { codec }) => sum + codec.smallest, 0),
    read: (from) => {
      const value: Record<string, unknown> = {};
      for (const { name, codec } of members) value[name] = codec.read(from);
      return value;
    },
    write: (to, value) => {
      if (typeof value !== "object" || value === null) throw unfit(value, "an object");
      let field = "";
      try {
        for (const { name, codec } of members) {
          field = name;
          codec.write(to, (value as Record<string, unknown>)[name]);
        }
      } catch (error) {
        throw located(error, field);
      }
    },
  };
}

function located(error: unknown, step: string): unknown {
  if (!isLibvirtError(error)) return error;
  const { code, message, path, cause } = error;
  return new LibvirtError(code, message, { path: joined(step, path), cause });
}

function joined(step: string, rest: string | undefined): string {
  if (rest === undefined) return step;
  return rest.startsWith("[") ? `${step}${rest}` : `${step}.${rest}`;
}
