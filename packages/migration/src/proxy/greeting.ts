import type { Socket } from "node:net";
import { peerRefused } from "./peer-refused.ts";
import { ticketBytes } from "./tickets.ts";

/**
 * What the source's proxy wants from a control connection: to check that it works, to use it as a stream, or to get
 * a ticket for a stream on a separate connection.
 */
export type Greeting =
  | { readonly wants: "hello" }
  | { readonly wants: "stream" | "ticket"; readonly channel: string };

/** The answer of the target's proxy. */
export type Answer =
  | { readonly ok: true; readonly ticket?: Buffer }
  | { readonly ok: false; readonly reason: string };

const protocol = "virtkit-migration/1";
/** A line with a name of 63 characters, or with a reason. */
const maxLine = 256;
const channelName = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Whether a channel can have this name. */
export function isChannelName(name: string): boolean {
  return channelName.test(name);
}

export function writeGreeting(greeting: Greeting): string {
  const channel = "channel" in greeting ? ` ${greeting.channel}` : "";
  return `${protocol} ${greeting.wants}${channel}\n`;
}

/** What to answer a peer of another version, which may then speak this one; undefined if it is not a peer. */
export function versionAnswer(line: string): Answer | undefined {
  const [found = ""] = line.split(" ");
  if (found === protocol || !/^virtkit-migration\/\d{1,6}$/.test(found)) return undefined;
  return { ok: false, reason: `greeted as ${found}, but this side speaks ${protocol}` };
}

/** Undefined for anything else. */
export function parseGreeting(line: string): Greeting | undefined {
  const [found, wants, channel, ...rest] = line.split(" ");
  if (found !== protocol || rest.length > 0) return undefined;
  if (wants === "hello" && channel === undefined) return { wants };
  if (wants !== "stream" && wants !== "ticket") return undefined;
  return channel !== undefined && isChannelName(channel) ? { wants, channel } : undefined;
}

export function writeAnswer(answer: Answer): string {
  if (!answer.ok) return `error ${answer.reason.replaceAll(/[^ -~]/g, "?").slice(0, 200)}\n`;
  return answer.ticket ? `ok ${answer.ticket.toString("hex")}\n` : "ok\n";
}

/** Undefined for anything else. */
export function parseAnswer(line: string): Answer | undefined {
  if (line === "ok") return { ok: true };
  const [, ticket] = /^ok ([0-9a-f]+)$/.exec(line) ?? [];
  if (ticket?.length === 2 * ticketBytes) return { ok: true, ticket: Buffer.from(ticket, "hex") };
  return line.startsWith("error ") ? { ok: false, reason: line.slice("error ".length) } : undefined;
}

/** Reads the first line. The rest stays in the paused socket. Fails if the line is too long or never ends. */
export async function readLine(socket: Socket): Promise<string> {
  return await new Promise<string>((resolve, reject) => {
    let line = "";
    const settle = (): void => {
      socket.pause();
      socket.off("data", take).off("end", end).off("close", end);
    };
    const end = (): void => {
      settle();
      reject(peerRefused("greeting", "closed its connection before the end of the first line"));
    };
    const take = (chunk: Buffer): void => {
      const length = chunk.indexOf("\n");
      line += chunk.toString("latin1", 0, length < 0 ? maxLine + 1 : length);
      if (line.length > maxLine) {
        settle();
        reject(
          peerRefused("greeting", `did not begin with a line of at most ${maxLine} characters`),
        );
      } else if (length >= 0) {
        settle();
        if (length + 1 < chunk.length) socket.unshift(chunk.subarray(length + 1));
        resolve(line);
      }
    };
    socket.on("data", take).once("end", end).once("close", end);
    socket.resume();
  });
}
