import {
  type ParameterType,
  type ParameterValue,
  parameterSets,
  parameterTypes,
} from "../protocol/typed-parameters.ts";
import { type Codec, stringLimit } from "./codec.ts";
import { malformed, type XdrReader } from "./xdr-reader.ts";
import { unfit, type XdrWriter } from "./xdr-writer.ts";

/** A name, a type and the smallest value. */
const smallestParameter = 12;

/**
 * Reads typed parameters into a record without prototype; of two with the same name the last wins.
 */
export function receivedParametersCodec(limit: number): Codec {
  return {
    smallest: 4,
    read: (from) => {
      const count = from.count(limit, smallestParameter);
      const values: Record<string, ParameterValue> = Object.create(null);
      for (let i = 0; i < count; i++) values[from.string(stringLimit)] = readValue(from);
      return values;
    },
    write: (_, value) => {
      throw unfit(value, "nothing: this field is only ever received");
    },
  };
}

function readValue(from: XdrReader): ParameterValue {
  const type = from.i32();
  switch (type) {
    case parameterTypes.int:
      return from.i32();
    case parameterTypes.uint:
      return from.u32();
    case parameterTypes.llong:
      return from.i64();
    case parameterTypes.ullong:
      return from.u64();
    case parameterTypes.double:
      return from.double();
    case parameterTypes.boolean:
      return from.i32() !== 0;
    case parameterTypes.string:
      return from.string(stringLimit);
    default:
      throw malformed(`there is no parameter type ${type}`);
  }
}

/**
 * Writes the parameters of one set; the set knows the type of each parameter, which the daemon
 * insists on.
 */
export function parametersCodec(set: string, limit: number): Codec {
  if (!Object.hasOwn(parameterSets, set)) throw new Error(`there is no parameter set "${set}"`);
  const types: Readonly<Record<string, ParameterType>> =
    parameterSets[set as keyof typeof parameterSets];
  return {
    smallest: 4,
    read: () => {
      throw malformed(`the parameters of ${set} are only ever sent`);
    },
    write: (to, value = {}) => {
      if (typeof value !== "object" || value === null)
        throw unfit(value, "an object of parameters");
      const pairs = Object.entries(value).flatMap(([name, given]) => pairsOf(name, given));
      to.count(pairs.length, limit);
      for (const [name, given] of pairs) {
        const type = Object.hasOwn(types, name) ? types[name] : undefined;
        if (!type) throw unfit(name, `a parameter of ${set} (${Object.keys(types).join(", ")})`);
        to.string(name, stringLimit);
        to.i32(parameterTypes[type]);
        writers[type](to, given);
      }
    },
  };
}

function pairsOf(name: string, given: unknown): [string, unknown][] {
  if (given === undefined) return [];
  return Array.isArray(given) ? given.map((one) => [name, one]) : [[name, given]];
}

const writers: Readonly<Record<ParameterType, (to: XdrWriter, value: unknown) => void>> = {
  int: (to, value) => to.i32(value as number),
  uint: (to, value) => to.u32(value as number),
  llong: (to, value) => to.i64(value as bigint),
  ullong: (to, value) => to.u64(value as bigint),
  double: (to, value) => to.double(value as number),
  boolean: (to, value) => to.bool(value as boolean),
  string: (to, value) => to.string(value as string, stringLimit),
};
