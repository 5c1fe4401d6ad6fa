import { describe, expect, test } from "vitest";
import { isLibvirtError } from "../libvirt-error.ts";
import { codecFor, structCodec } from "./codec-for.ts";
import { XdrReader } from "./xdr-reader.ts";
import { XdrWriter } from "./xdr-writer.ts";

const uuid = "6695eb01-f6a4-8304-79aa-97f2502e193f";

function write(word: string, value: unknown): string {
  const writer = new XdrWriter();
  codecFor(word).write(writer, value);
  return writer.finish().toString("hex");
}

function read(word: string, hex: string): unknown {
  const reader = new XdrReader(Buffer.from(hex.replaceAll(" ", ""), "hex"));
  const value = codecFor(word).read(reader);
  expect(reader.left).toBe(0);
  return value;
}

function failure(action: () => unknown): { code: string; path?: string | undefined } {
  try {
    action();
  } catch (error) {
    if (isLibvirtError(error)) return error;
    throw error;
  }
  throw new Error("did not fail");
}

describe("encodes each word of the notation as XDR does", () => {
  test.each([
    ["u8", 7, "00000007"],
    ["u32", 4294967295, "ffffffff"],
    ["i32", -1, "ffffffff"],
    ["u64", 2n ** 64n - 1n, "ffffffffffffffff"],
    ["i64", -2n, "fffffffffffffffe"],
    ["bool", true, "00000001"],
    ["string", "abcde", "000000056162636465000000"],
    ["string", "", "00000000"],
    ["string", "ä", "00000002c3a40000"],
    ["uuid", uuid, "6695eb01f6a4830479aa97f2502e193f"],
    ["bytes[8]", Buffer.from([1, 2, 3]), "0000000301020300"],
    ["enum:domainState", "paused", "00000003"],
    ["string?", undefined, "00000000"],
    ["string?", "a", "000000010000000161000000"],
    ["u32[3]", [1, 2], "000000020000000100000002"],
    [
      "domain",
      { name: "vm", uuid, id: -1 },
      "00000002766d00006695eb01f6a4830479aa97f2502e193fffffffff",
    ],
  ])("%s", (word, value, bytes) => {
    expect(write(word, value)).toBe(bytes);
    expect(read(word, bytes)).toEqual(value);
  });
});

test("turns names of flags into bits; no flag is zero", () => {
  expect(write("flags:domainVcpus", ["live", "guest"])).toBe("00000009");
  expect(write("flags:statsList", ["enforceStats", "active"])).toBe("80000001");
  expect(write("flags:none", undefined)).toBe("00000000");
});

test("writes parameters with the type that the daemon expects, lists as repetition", () => {
  const given = { bandwidth: 8, migrate_disks: ["vda", "vdb"], disks_uri: undefined };
  expect(write("params:migration[64]", given)).toBe(
    [
      "00000003",
      "0000000962616e647769647468000000" + "00000004" + "0000000000000008",
      "0000000d6d6967726174655f6469736b73000000" + "00000007" + "0000000376646100",
      "0000000d6d6967726174655f6469736b73000000" + "00000007" + "0000000376646200",
    ].join(""),
  );
});

test("reads parameters of all types; a hostile name is just a key", () => {
  const values = read(
    "params[64]",
    `00000008
     00000001 61000000 00000001 ffffffff
     00000001 62000000 00000002 ffffffff
     00000001 63000000 00000003 ffffffffffffffff
     00000001 64000000 00000004 ffffffffffffffff
     00000001 65000000 00000005 3ff8000000000000
     00000001 66000000 00000006 00000001
     00000001 67000000 00000007 00000001 78000000
     00000009 5f5f70726f746f5f5f000000 00000001 00000001`.replaceAll(/\s/g, ""),
  ) as Record<string, unknown>;
  expect({ ...values, ["__proto__"]: undefined }).toMatchObject({
    a: -1,
    b: 4294967295,
    c: -1n,
    d: 2n ** 64n - 1n,
    e: 1.5,
    f: true,
    g: "x",
  });
  expect(Object.keys(values)).toContain("__proto__");
  expect(Object.getPrototypeOf(values)).toBeNull();
});

test("keeps a number that is newer than the list of names, in both directions", () => {
  expect(read("enum:domainState", "00000063")).toBe(99);
  expect(read("enum:domainState", "ffffffff")).toBe(-1);
  expect(write("enum:domainState", 99)).toBe("00000063");
});

test("a fixed field of characters ends at its first zero", () => {
  expect(read("chars[4]", "00000061 00000062 00000000 00000063")).toBe("ab");
});

describe("rejects impossible claims of the daemon before allocating", () => {
  test.each([
    ["a string longer than the message", "string", "00300000 61616161"],
    ["a string longer than the protocol allows", "string", "7fffffff 61616161"],
    ["bytes longer than the protocol allows", "bytes[4]", "00000005 0000000000000000"],
    ["more items than the message can hold", "u32[16384]", "00004000 00000001"],
    ["more items than the protocol allows", "u32[2]", "00000003 000000010000000200000003"],
    ["more parameters than the message can hold", "params[262144]", "00040000 00000000"],
    ["an unknown parameter type", "params[4]", "00000001 00000001 61000000 00000063 00000000"],
    ["an optional field that is neither present nor absent", "string?", "00000002 00000000"],
    ["a truncated field", "u64", "00000000"],
    ["a number too large for its type", "u8", "00000100"],
  ])("%s", (_, word, hex) => {
    expect(failure(() => read(word, hex)).code).toBe("LIBVIRT_PROTOCOL");
  });
});

describe("rejects and names an argument that cannot be sent", () => {
  const codec = structCodec({
    dom: "domain",
    sizes: "u64[2]",
    flags: "flags:console",
    source: "enum:addressSource",
    params: "params:migration[2]",
  });
  const good = {
    dom: { name: "vm", uuid, id: 1 },
    sizes: [1],
    flags: [],
    source: "agent",
    params: {},
  };
  test.each([
    ["dom.name", { dom: { ...good.dom, name: 7 } }],
    ["dom.name", { dom: { ...good.dom, name: "a\0b" } }],
    ["dom.name", { dom: { ...good.dom, name: "x".repeat(4_194_305) } }],
    ["dom.uuid", { dom: { ...good.dom, uuid: "6695eb01" } }],
    ["dom.id", { dom: { ...good.dom, id: 2 ** 31 } }],
    ["dom.id", { dom: { ...good.dom, id: Number.NaN } }],
    ["dom", { dom: null }],
    ["sizes[1]", { sizes: [1, -1] }],
    ["sizes[0]", { sizes: [0.5] }],
    ["sizes[0]", { sizes: ["1"] }],
    ["sizes", { sizes: [1, 2, 3] }],
    ["sizes", { sizes: "12" }],
    ["flags", { flags: ["toString"] }],
    ["flags", { flags: "force" }],
    ["source", { source: "nobody" }],
    ["params", { params: { constructor: "x" } }],
    ["params", { params: { bandwidth: "8" } }],
    ["params", { params: { migrate_disks: ["a", "b", "c"] } }],
  ])("%s", (path, change) => {
    expect(() => codec.write(new XdrWriter(), good)).not.toThrow();
    const error = failure(() => codec.write(new XdrWriter(), { ...good, ...change }));
    expect(error).toMatchObject({ code: "LIBVIRT_ARGUMENT", path });
  });
});
