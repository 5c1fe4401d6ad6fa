import type { EnumName, enumerations } from "./enums.ts";
import type { Flag, flagWords } from "./flags.ts";
import type { structs } from "./structs.ts";
import type { ParameterArguments, Parameters, parameterSets } from "./typed-parameters.ts";

/**
 * How the fields of the protocol are written down, as in `params: "params[64]"`:
 *
 * u8 u16 u32 i32 number; all of them take four bytes on the wire u64 i64 bigint; as an argument
 * also a safe integer bool true or false, four bytes string text of at most 4 MiB uuid 16 bytes, as
 * text with dashes chars[32] a fixed number of characters, four bytes each, ended by 0 bytes[65536]
 * at most that many bytes enum:jobType a name of `enums.ts`, or a number that has no name there
 * flags:console a list of names of `flags.ts`; absent is not a flag params[64] at most that many
 * typed parameters, as a record params:migration the same as an argument: names and types of
 * `typed-parameters.ts` domain a structure of `structs.ts` domain? may be absent domain[16384] a
 * list of at most that many
 *
 * Structures do not contain themselves, so the depth of a message is the one written down here.
 */
export type Fields = Readonly<Record<string, string>>;

interface Scalars {
  u8: number;
  u16: number;
  u32: number;
  i32: number;
  u64: bigint;
  i64: bigint;
  bool: boolean;
  string: string;
  uuid: string;
}

/** The TypeScript type of a field that the daemon sends. */
export type Received<T extends string> = T extends `${infer Item}?`
  ? Received<Item> | undefined
  : T extends `chars[${string}`
    ? string
    : T extends `bytes[${string}`
      ? Buffer
      : T extends `params[${string}`
        ? Parameters
        : T extends `${infer Item}[${string}`
          ? Received<Item>[]
          : T extends keyof Scalars
            ? Scalars[T]
            : T extends `enum:${infer Name extends keyof typeof enumerations}`
              ? EnumName<Name> | number
              : T extends keyof typeof structs
                ? ReceivedFields<(typeof structs)[T]>
                : never;

/** The TypeScript type of the fields that the daemon sends. */
export type ReceivedFields<F extends Fields> = { -readonly [Name in keyof F]: Received<F[Name]> };

/** The TypeScript type of a field that the caller gives. */
export type Given<T extends string> = T extends `${infer Item}?`
  ? Given<Item> | undefined
  : T extends `bytes[${string}`
    ? Uint8Array
    : T extends `params:${infer Name extends keyof typeof parameterSets}[${string}`
      ? ParameterArguments<Name>
      : T extends `${infer Item}[${string}`
        ? readonly Given<Item>[]
        : T extends "u64" | "i64"
          ? bigint | number
          : T extends keyof Scalars
            ? Scalars[T]
            : T extends `enum:${infer Name extends keyof typeof enumerations}`
              ? EnumName<Name> | number
              : T extends `flags:${infer Name extends keyof typeof flagWords}`
                ? readonly Flag<Name>[]
                : T extends keyof typeof structs
                  ? GivenFields<(typeof structs)[T]>
                  : never;

/** Fields that may be left out: what is optional on the wire, flags, parameters and byte strings. */
type MayBeAbsent<F extends Fields> = {
  [Name in keyof F]: F[Name] extends
    | `${string}?`
    | `flags:${string}`
    | `params:${string}`
    | `bytes[${string}`
    ? Name
    : never;
}[keyof F];

/** The TypeScript type of the fields that the caller gives. */
export type GivenFields<F extends Fields> = {
  readonly [Name in Exclude<keyof F, MayBeAbsent<F>>]: Given<F[Name]>;
} & { readonly [Name in MayBeAbsent<F>]?: Given<F[Name]> | undefined };

/** A procedure: its number, what it takes and what it answers. */
export interface Procedure {
  readonly number: number;
  readonly args: Fields;
  readonly result: Fields;
  /** Which of libvirt's programs it belongs to; `remote` by default. */
  readonly program?: "remote" | "qemu";
  /** It answers when the work is done, and that may take very long: no short timer by default. */
  readonly slow?: boolean;
}
