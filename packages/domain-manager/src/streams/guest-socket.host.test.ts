import type { Duplex } from "node:stream";
import { type Libvirtd, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectLibvirt, type Libvirt } from "../libvirt/libvirt.ts";
import { startGuest } from "../testing/guest-fixture.ts";
import { dialUnixSocket } from "./dial-unix-socket.ts";
import { GuestSocket } from "./guest-socket.ts";

let daemon: Libvirtd;
let libvirt: Libvirt;
let serial: GuestSocket;
let screen: GuestSocket;

beforeAll(async () => {
  daemon = await startLibvirtd();
  libvirt = await connectLibvirt({ uri: daemon.uri });
  const [console, vnc] = [`${daemon.directory}/serial`, `${daemon.directory}/vnc`];
  await startGuest(daemon, libvirt, "streams1", {
    cmdline: "hb=none",
    serial: `<serial type='unix'><source mode='bind' path='${console}'/>`,
    devices: `<graphics type='vnc'><listen type='socket' socket='${vnc}'/></graphics><video><model type='vga'/></video>`,
  });
  const dialTimeout = 60_000;
  serial = new GuestSocket({ what: "console", dial: dialUnixSocket(console), dialTimeout });
  screen = new GuestSocket({ what: "screen", dial: dialUnixSocket(vnc), dialTimeout });
});

afterAll(async () => {
  await libvirt?.close();
  await daemon?.[Symbol.asyncDispose]();
});

/**
 * Types until the guest gives the expected output: a shell that has just started drops its input.
 */
async function converse(stream: Duplex, typed: string, awaited: string): Promise<string> {
  let said = "";
  stream.on("data", (chunk: Buffer) => {
    said += chunk.toString("latin1");
  });
  const typing = setInterval(() => stream.write(typed), 2_000);
  stream.write(typed);
  try {
    await expect.poll(() => said, { timeout: 100_000, interval: 50 }).toContain(awaited);
    return said;
  } finally {
    clearInterval(typing);
    stream.removeAllListeners("data");
  }
}

test("types a command on the console and reads its answer; a second client takes over", async () => {
  const first = await serial.open();
  await converse(first, "echo $((6 * 7))one\n", "42one");
  const second = await serial.open();
  await converse(second, "echo $((6 * 7))two\n", "42two");
  expect(first.errored).toMatchObject({ code: "DOMAIN_STREAM_TAKEN" });
  // Again and again, as a person with a bad connection does.
  let last = second;
  for (let i = 0; i < 5; i++) last = await serial.open();
  await converse(last, "echo $((6 * 7))last\n", "42last");
});

test("the screen speaks RFB, to one client or to the newest", async () => {
  const banner = async (stream: Duplex): Promise<string> =>
    String((await stream[Symbol.asyncIterator]().next()).value);
  const first = await screen.open();
  expect(await banner(first)).toBe("RFB 003.008\n");
  const second = await screen.open();
  await expect(screen.open({ preserveSession: true })).rejects.toMatchObject({
    code: "DOMAIN_STREAM_BUSY",
  });
  expect(await banner(second)).toBe("RFB 003.008\n");
});

test("the console ends with the guest, and new clients cannot connect", async () => {
  const stream = await serial.open();
  stream.resume();
  const { dom } = await libvirt.call("domainLookupByName", { name: "streams1" });
  await libvirt.call("domainDestroy", { dom });
  await expect.poll(() => stream.readableEnded || stream.destroyed, { timeout: 60_000 }).toBe(true);
  await expect(serial.open()).rejects.toMatchObject({ code: "DOMAIN_STREAM_LOST" });
});
