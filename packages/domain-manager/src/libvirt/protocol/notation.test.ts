import { expect, expectTypeOf, test } from "vitest";
import type { Libvirt } from "../libvirt.ts";
import { rpcProcedure } from "../rpc/rpc-procedure.ts";
import { events } from "./events.ts";
import type { Procedure } from "./notation.ts";
import { type Arguments, procedures, type Result } from "./procedures.ts";

test("every description compiles, and no two procedures or events have the same number", () => {
  const entries = Object.entries<Procedure>(procedures);
  for (const [name, description] of entries) {
    expect(rpcProcedure(name, description).name).toBe(name);
  }
  const numbers = entries.map(([, { program = "remote", number }]) => `${program} ${number}`);
  const messages = Object.values(events).map(({ message }) => `remote ${message}`);
  expect(new Set([...numbers, ...messages]).size).toBe(numbers.length + messages.length);
  expect(new Set(Object.values(events).map(({ id }) => id)).size).toBe(messages.length);
});

test("the words of a description are the types of a call", () => {
  expectTypeOf<Result<"nodeGetFreeMemory">>().toEqualTypeOf<{ bytes: bigint }>();
  expectTypeOf<Result<"domainScreenshot">>().toEqualTypeOf<{ mime: string | undefined }>();
  expectTypeOf<Result<"secretGetValue">["value"]>().toEqualTypeOf<Buffer>();
  expectTypeOf<Result<"domainGetFileSystems">["fileSystems"][0]["devices"]>().toEqualTypeOf<
    string[]
  >();
  expectTypeOf<Arguments<"domainBlockResize">["size"]>().toEqualTypeOf<bigint | number>();
  expectTypeOf<Arguments<"domainOpenConsole">["flags"]>().toEqualTypeOf<
    readonly ("force" | "safe")[] | undefined
  >();
});

test("a wrong call does not compile", () => {
  const dom = { name: "vm", uuid: "6695eb01-f6a4-8304-79aa-97f2502e193f", id: 1 };
  // Never run: the compiler is the test.
  const misuse = (libvirt: Libvirt): unknown[] => [
    // @ts-expect-error there is no such procedure
    libvirt.call("domainExplode", { dom }),
    // @ts-expect-error the domain is missing
    libvirt.call("domainGetInfo"),
    // @ts-expect-error a flag of another call
    libvirt.call("domainDestroy", { dom, flags: ["live"] }),
    // @ts-expect-error bandwidth is a number
    libvirt.call("domainMigratePerform", { dom, params: { bandwidth: "1" } }),
    // @ts-expect-error there is no such parameter
    libvirt.call("domainMigratePerform", { dom, params: { bandwith: 1 } }),
    // @ts-expect-error there is no such event
    libvirt.subscribe(["explosion"]),
  ];
  expect(misuse).toBeTypeOf("function");
});
