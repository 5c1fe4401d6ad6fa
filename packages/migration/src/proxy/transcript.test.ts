import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer as createPlainServer, type Server, type Socket } from "node:net";
import { connect as connectTls, createServer, type TLSSocket } from "node:tls";
import { fileURLToPath } from "node:url";
import { clientTlsOptions, migrationIdentity, serverTlsOptions } from "@virtkit/pki";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { readLine } from "./greeting.ts";
import { startSourceProxy } from "./source-proxy.ts";
import {
  sharedAuthority,
  sourceCredentials,
  startProxies,
  startTarget,
  stopAll,
  uid,
} from "./testing/proxy-fixture.ts";

/*
 * What both proxies of version 1 say before they pass streams on, recorded once, with TICKET for 32 random bytes in
 * hexadecimal. It is never recorded again: a later version gets its own file, and both sides must go on to talk to this one.
 */
const file = fileURLToPath(new URL("../testing/proxy-v1.json", import.meta.url));

interface Entry {
  readonly wants: "hello" | "stream" | "ticket";
  readonly greeting: string;
  readonly answer: string;
}

const recorded = JSON.parse(readFileSync(file, "utf8")) as readonly Entry[];
const answerTo = (greeting: string): string =>
  recorded.find((each) => each.greeting === greeting)?.answer ?? "";

const echo = (socket: Socket): void => void socket.pipe(socket);
afterEach(stopAll);

/** A control connection as a source's proxy opens it. */
async function greeted(port: number, greeting: string): Promise<TLSSocket> {
  const options = clientTlsOptions(await sourceCredentials(), migrationIdentity(uid, "target"));
  const socket = connectTls({ ...options, host: "127.0.0.1", port });
  onTestFinished(() => void socket.destroy());
  await once(socket, "secureConnect");
  socket.write(greeting);
  return socket;
}

async function echoed(socket: Socket): Promise<string> {
  socket.write("ping");
  const [chunk] = (await once(socket.resume(), "data")) as [Buffer];
  return String(chunk);
}

test.each(recorded)(
  "a source of the recorded version that wants $wants gets the recorded answer",
  async ({ wants, greeting, answer }) => {
    const { proxy } = await startTarget({ serve: echo });
    const control = await greeted(proxy.controlPort, greeting);
    const line = `${await readLine(control)}\n`;
    const [, ticket = ""] = /^ok ([0-9a-f]{64})\n$/.exec(line) ?? [];
    expect(ticket ? line.replace(ticket, "TICKET") : line).toBe(answer);
    if (wants === "stream") expect(await echoed(control)).toBe("ping");
    if (wants !== "ticket") return;
    const data = connect(proxy.dataPort, "127.0.0.1");
    onTestFinished(() => void data.destroy());
    data.write(Buffer.from(ticket, "hex"));
    expect(await echoed(data)).toBe("ping");
  },
);

/** Ports of a target whose proxy answers with lines. */
async function answering(answer: (greeting: string) => string): Promise<{
  readonly ports: { readonly controlPort: number; readonly dataPort: number };
  readonly greetings: string[];
  readonly tickets: string[];
}> {
  const credentials = await (await sharedAuthority()).issue(migrationIdentity(uid, "target"));
  const greetings: string[] = [];
  const tickets: string[] = [];
  const control = createServer(serverTlsOptions(credentials), (socket) => {
    // The source breaks the connection where it is refused.
    socket.on("error", () => undefined);
    void readLine(socket).then((line) => {
      greetings.push(`${line}\n`);
      socket.write(answer(`${line}\n`));
      if (line.includes(" stream ")) echo(socket);
    });
  });
  const data = createPlainServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (chunk: Buffer) => {
      tickets.push(chunk.toString("hex", 0, 32));
      socket.write(chunk.subarray(32));
      echo(socket);
    });
  });
  const ports = await Promise.all([listening(control), listening(data)]);
  return { ports: { controlPort: ports[0], dataPort: ports[1] }, greetings, tickets };
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as { port: number }).port;
}

test("a target of the recorded version is greeted as recorded, and its answers mean the same", async () => {
  const ticket = "07".repeat(32);
  const target = await answering((greeting) => answerTo(greeting).replace("TICKET", ticket));
  const proxies = await startProxies({
    ...{ serve: echo, channels: { memory: "data", libvirt: "control" } },
    source: { target: { host: "127.0.0.1", ...target.ports } },
  });
  expect(await echoed(proxies.dial("libvirt"))).toBe("ping");
  expect(await echoed(proxies.dial("memory"))).toBe("ping");
  expect(target.greetings).toEqual(recorded.map(({ greeting }) => greeting));
  expect(target.tickets).toEqual([ticket]);
});

test("a target answers a source of a newer or older version with its own, and dials nothing", async () => {
  let dialled = 0;
  const { proxy } = await startTarget({ serve: () => void dialled++ });
  for (const version of [0, 2, 17]) {
    const control = await greeted(
      proxy.controlPort,
      `virtkit-migration/${version} stream libvirt now\n`,
    );
    expect(await readLine(control)).toBe(
      `error greeted as virtkit-migration/${version}, but this side speaks virtkit-migration/1`,
    );
  }
  expect(dialled).toBe(0);
});

test.each([
  [
    "of another version",
    "error greeted as virtkit-migration/1, but this side speaks virtkit-migration/2\n",
    /this side speaks virtkit-migration\/2/,
  ],
  ["that says more than this version knows", "ok TICKET later\n", /not a reply/],
])("a source gives up a target %s, with the reason", async (_, line, reason) => {
  const target = await answering(() => line);
  const start = startSourceProxy({
    ...{ uid, credentials: await sourceCredentials(), channels: [] },
    target: { host: "127.0.0.1", ...target.ports },
  });
  await expect(start).rejects.toMatchObject({
    ...{ code: "MIGRATION_PEER_REFUSED", path: "answer" },
    message: expect.stringMatching(reason),
  });
});
