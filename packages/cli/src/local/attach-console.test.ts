import { once } from "node:events";
import { Duplex, PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { attachConsole, type ConsoleInput } from "./attach-console.ts";

function session(interrupts = false) {
  const raw: boolean[] = [];
  const input: ConsoleInput = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => raw.push(on),
  });
  const output = new PassThrough();
  const typed: Buffer[] = [];
  const guest = new Duplex({
    read() {},
    write(chunk, _, done) {
      typed.push(chunk);
      done();
    },
  });
  const abort = new AbortController();
  const end = attachConsole(guest, { input, output, interrupts, signal: abort.signal });
  const text = (): string => Buffer.concat(typed).toString();
  return { input: input as unknown as PassThrough, output, guest, typed: text, end, raw, abort };
}

test("keys go to the guest and its output to the terminal, until Ctrl-]", async () => {
  const { input, output, guest, typed, end, raw } = session();
  guest.push("login: ");
  await once(output, "readable");
  input.write("root\r\x03");
  input.write("x\x1dlost");
  expect(await end).toBe("left");
  expect(typed()).toBe("root\r\x03x");
  expect(output.read()?.toString()).toBe("login: ");
  expect(raw).toEqual([true, false]);
});

test("Ctrl-C ends the session if the caller wants that", async () => {
  const { input, typed, end, raw } = session(true);
  input.write("a\x03b");
  expect(await end).toBe("interrupted");
  expect(typed()).toBe("a");
  expect(raw.at(-1)).toBe(false);
});

test("a guest that goes away ends the session and restores the terminal", async () => {
  const { guest, end, raw } = session();
  guest.push(null);
  expect(await end).toBe("closed");
  expect(raw.at(-1)).toBe(false);
});

test("the caller can end it", async () => {
  const { abort, end } = session();
  abort.abort();
  expect(await end).toBe("aborted");
});
