import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type Dialer, dial } from "../libvirt/dial.ts";
import { messageTypes, readHeader } from "../libvirt/protocol/message.ts";
import { MessageSplitter } from "../libvirt/rpc/message-splitter.ts";

/** Larger messages are mostly one long string, which the smaller ones have as well. */
const sizeLimit = 4096;

/**
 * The real dialer. With `VIRTKIT_RECORD` set to a path it also keeps, for the fuzzer, one message of each
 * procedure, type and status that daemons send: `VIRTKIT_RECORD=... npm run test:host` renews the file
 * `recorded-messages.json`.
 */
export const recordingDial: Dialer = async (endpoint, options) => {
  const path = process.env["VIRTKIT_RECORD"];
  if (!path) return await dial(endpoint, options);
  const splitter = new MessageSplitter();
  const receive = (chunk: Buffer): void => {
    splitter.push(chunk, (message) => keep(path, message));
    options.receive(chunk);
  };
  return await dial(endpoint, { ...options, receive });
};

function keep(path: string, message: Buffer): void {
  const { program, procedure, type, status } = readHeader(message);
  if (message.length > sizeLimit || type === messageTypes.stream) return;
  const recorded: Record<string, string> = existsSync(path)
    ? JSON.parse(readFileSync(path, "utf8"))
    : {};
  const key = [program.toString(16), procedure, type, status].join(" ");
  const encoded = message.toString("base64");
  if ((recorded[key]?.length ?? 0) >= encoded.length) return;
  const all = Object.entries({ ...recorded, [key]: encoded });
  all.sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
}
