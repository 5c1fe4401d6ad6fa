import { once } from "node:events";
import { request as httpsRequest, createServer as naiveServer } from "node:https";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { nodeRequestPath, streamProtocol, vmiUidHeader } from "@virtkit/api/subresources/node";
import { DomainManagerError, type GuestControl, MayRun } from "@virtkit/domain-manager";
import {
  apiServerIdentity,
  type Credentials,
  clientTlsOptions,
  migrationIdentity,
  nodeAgentIdentity,
  serverTlsOptions,
} from "@virtkit/pki";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { duplexPair } from "../testing/duplex-pair.ts";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { type TestAuthority, testAuthority } from "../testing/test-authority.ts";
import type { RequestEvent } from "./answer-call.ts";
import { type GuestServer, type GuestServerOptions, startGuestServer } from "./guest-server.ts";
import type { ServedGuest } from "./served-guest.ts";

const nodeName = "node01";
const uid = sampleVmi().metadata?.uid ?? "";
const sample = sampleVmi();
const vmi = {
  ...sample,
  spec: {
    ...sample.spec,
    domain: {
      ...sample.spec.domain,
      devices: { ...sample.spec.domain.devices, autoattachVSOCK: true },
    },
  },
  status: { ...sample.status, nodeName, VSOCKCID: 7 },
};
const namespace = vmi.metadata?.namespace ?? "";
const name = vmi.metadata?.name ?? "";

let authority: TestAuthority;
let [agent, apiServer, otherNode, migration]: Credentials[] = [];
let stranger: Credentials;

beforeAll(async () => {
  authority = await testAuthority();
  [agent, apiServer, otherNode, migration] = await Promise.all([
    authority.issue(nodeAgentIdentity(nodeName)),
    authority.issue(apiServerIdentity()),
    authority.issue(nodeAgentIdentity("node02")),
    authority.issue(migrationIdentity(uid, "source")),
  ]);
  using foreign = await testAuthority();
  stranger = await foreign.issue(apiServerIdentity());
});
afterAll(() => authority[Symbol.dispose]());

interface Served {
  readonly server: GuestServer;
  readonly calls: string[];
  readonly events: RequestEvent[];
}

/** A server with one guest, whose launcher only notes what it is asked. */
async function serve(
  launcher: Partial<GuestControl> = {},
  options: Partial<GuestServerOptions> = {},
): Promise<Served> {
  const calls: string[] = [];
  const events: RequestEvent[] = [];
  const noted = new Proxy(launcher, {
    get: (target, verb: string) => {
      if (verb === "then") return undefined;
      return (...args: unknown[]) => {
        calls.push(verb);
        const run = Reflect.get(target, verb) as ((...given: unknown[]) => unknown) | undefined;
        return Promise.resolve(run?.(...args));
      };
    },
  }) as GuestControl;
  const guest: ServedGuest = {
    vmi,
    launcher: async () => noted,
    mayRun: async () => MayRun.fromAgent({ vmiUid: uid, podUid: "pod", epoch: 1 }),
  };
  const server = await startGuestServer({
    nodeName,
    credentials: { current: agent as Credentials },
    findGuest: (givenNamespace, givenName) =>
      givenNamespace === namespace && givenName === name ? guest : undefined,
    recordEvent: (_, event) => events.push(event),
    address: "127.0.0.1",
    port: 0,
    ...options,
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { server, calls, events };
}

type Subresource = Parameters<typeof nodeRequestPath>[0]["subresource"];
const pathOf = (subresource: Subresource, query: Record<string, string> = {}): string =>
  nodeRequestPath({ namespace, name, subresource, query });

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly as?: Credentials;
}

async function ask(
  port: number,
  { method = "PUT", path = pathOf("pause"), headers = {}, body, as = apiServer }: Asked = {},
): Promise<{ code: number; type: string | undefined; body: string }> {
  const request = httpsRequest({
    ...clientTlsOptions(as as Credentials, nodeAgentIdentity(nodeName)),
    ...{ host: "127.0.0.1", port, method, path, agent: false },
    headers: { [vmiUidHeader]: uid, ...headers },
  });
  request.end(body);
  const [response] = await once(request, "response");
  let text = "";
  for await (const part of response) text += part;
  return { code: response.statusCode, type: response.headers["content-type"], body: text };
}

function dial(port: number, path: string, as: Credentials | undefined = apiServer): WebSocket {
  return new WebSocket(`wss://127.0.0.1:${port}${path}`, streamProtocol, {
    ...clientTlsOptions(as as Credentials, nodeAgentIdentity(nodeName)),
    headers: { [vmiUidHeader]: uid },
  });
}

test("a verb is passed to the launcher, answered, and shown on the VMI", async () => {
  const { server, calls, events } = await serve({
    users: async () => [{ userName: "u", loginTime: 1.5 }],
    screenshot: async () => ({ mime: "image/png", data: Buffer.from("PNG") }),
  });
  expect(await ask(server.port)).toMatchObject({ code: 202, body: "" });
  const unfreezeTimeout = JSON.stringify({ unfreezeTimeout: "-5s" });
  expect(await ask(server.port, { path: pathOf("freeze"), body: unfreezeTimeout })).toMatchObject({
    code: 202,
  });
  const users = await ask(server.port, { method: "GET", path: pathOf("userlist") });
  expect(users).toMatchObject({ code: 200, type: "application/json" });
  expect(JSON.parse(users.body)).toEqual({
    metadata: {},
    items: [{ userName: "u", loginTime: 1.5 }],
  });
  expect(await ask(server.port, { method: "GET", path: pathOf("vnc/screenshot") })).toEqual({
    code: 200,
    type: "image/png",
    body: "PNG",
  });
  expect(calls).toEqual(["pause", "freeze", "users", "screenshot"]);
  expect(events.map(({ type, reason }) => `${type} ${reason}`)).toEqual(["Normal Paused"]);
});

test("answers with KubeVirt's codes what the launcher cannot do", async () => {
  const refuse = async (): Promise<never> => {
    throw new DomainManagerError("DOMAIN_LIBVIRT", "not today");
  };
  const { server, events } = await serve({ pause: refuse, freeze: refuse });
  expect(await ask(server.port)).toMatchObject({ code: 500, body: "not today\n" });
  const body = JSON.stringify({ unfreezeTimeout: "5m" });
  expect(await ask(server.port, { path: pathOf("freeze"), body })).toMatchObject({ code: 400 });
  expect(events).toEqual([{ type: "Warning", reason: "FreezeError", message: "not today" }]);
  expect(await ask(server.port, { path: pathOf("backup") })).toMatchObject({ code: 400 });
});

test("a stream is relayed both ways, complete, and ends when the guest ends it", async () => {
  const [ours, theirs] = duplexPair();
  const { server } = await serve({}, { dialVsock: async () => theirs });
  const client = dial(server.port, pathOf("vsock", { port: "22", tls: "false" }));
  await once(client, "open");
  expect(client.protocol).toBe(streamProtocol);
  // More than all buffers on the way hold: nothing is lost while either side is slow.
  const sent = Buffer.alloc(3 << 20, "guest");
  let received = Buffer.alloc(0);
  const all = new Promise<void>((resolve) => {
    client.on("message", (data: Buffer) => {
      received = Buffer.concat([received, data]);
      if (received.length === sent.length) resolve();
    });
  });
  ours.write(sent);
  await all;
  expect(received.equals(sent)).toBe(true);
  client.send("not binary");
  client.send(Buffer.from("client"), { binary: true });
  expect(String((await once(ours, "data"))[0])).toBe("client");
  ours.end();
  const [code] = await once(client, "close");
  expect(code).toBe(1000);
});

test("VSOCK: the CID is the VMI's, the port the caller's; TLS is the caller's wish, and a node that lacks it says so", async () => {
  const asked: unknown[] = [];
  const { server } = await serve(
    {},
    {
      dialVsock: async (target) => {
        asked.push(target);
        return duplexPair()[1];
      },
    },
  );
  for (const query of [{ port: "22" }, { port: "4294967295", tls: "true" }]) {
    const client = dial(server.port, pathOf("vsock", query));
    await once(client, "open");
    client.terminate();
  }
  expect(asked).toMatchObject([
    { cid: 7, port: 22, tls: false },
    { cid: 7, port: 4_294_967_295, tls: true },
  ]);
  // Nothing is given: the server has a dialer of its own, and its node no certificate for guests.
  const { server: plain } = await serve();
  const refused = dial(plain.port, pathOf("vsock", { port: "22", tls: "true" }));
  const [, response] = await once(refused, "unexpected-response");
  let said = "";
  for await (const part of response) said += part;
  expect([response.statusCode, said]).toEqual([
    500,
    expect.stringMatching(/vhost_vsock|no certificate to show to guests/),
  ]);
});

test("a client that does not read slows down its guest and costs this node no memory", async () => {
  const [ours, theirs] = duplexPair();
  const { server } = await serve({}, { dialVsock: async () => theirs });
  const client = dial(server.port, pathOf("vsock", { port: "22" }));
  await once(client, "open");
  client.pause();
  const part = Buffer.alloc(64 * 1024);
  let written = 0;
  // Until the guest is told to wait: writes that are not taken wait in its own buffer.
  while (ours.write(part) || ours.writableLength < 4 * part.length) {
    written += part.length;
    expect(written).toBeLessThan(64 << 20);
    await new Promise(setImmediate);
  }
  client.terminate();
  await once(ours, "close");
});

test("a message that is too long ends its stream and no other", async () => {
  const { server } = await serve({}, { dialVsock: async () => duplexPair()[1] });
  const [first, second] = [1, 2].map(() => dial(server.port, pathOf("vsock", { port: "1" })));
  await Promise.all([once(first as WebSocket, "open"), once(second as WebSocket, "open")]);
  first?.on("error", () => {});
  first?.send(Buffer.alloc(2 << 20), { binary: true });
  const [code] = await once(first as WebSocket, "close");
  expect([1009, 1006]).toContain(code);
  expect(second?.readyState).toBe(WebSocket.OPEN);
});

test.each([
  ["another node's agent", () => otherNode],
  ["a migration", () => migration],
  ["an API server of another trust domain", () => stranger],
  ["this node's own agent", () => agent],
])("disconnects %s before any request", async (_, credentials) => {
  const { server, calls } = await serve();
  const as = credentials() as Credentials;
  // Whoever shows it checks the server, too; the attacker does not care.
  const asked = new Promise<void>((resolve, reject) => {
    const socket = connectTls({
      ...{ host: "127.0.0.1", port: server.port, rejectUnauthorized: false },
      ...{ cert: as.certificate, key: as.privateKey },
    });
    socket.once("data", () => reject(new Error("the server answered")));
    socket.on("error", () => resolve());
    socket.once("close", () => resolve());
    socket.write(`PUT ${pathOf("pause")} HTTP/1.1\r\nhost: x\r\n${vmiUidHeader}: ${uid}\r\n\r\n`);
  });
  await expect(asked).resolves.toBeUndefined();
  expect(calls).toEqual([]);
});

test("control: a server that checks only the trust domain answers another node's agent", async () => {
  const naive = naiveServer(serverTlsOptions(agent as Credentials), (_, response) =>
    response.writeHead(202).end(),
  );
  naive.listen(0, "127.0.0.1");
  await once(naive, "listening");
  onTestFinished(() => void naive.close());
  const { port } = naive.address() as AddressInfo;
  expect(await ask(port, { as: otherNode as Credentials })).toMatchObject({ code: 202 });
});

test.each([
  ["the UID of another VMI", { headers: { [vmiUidHeader]: "other" } }, 409],
  ["no UID", { headers: { [vmiUidHeader]: "" } }, 400],
  ["a VMI that is not on this node", { path: pathOf("pause").replace(name, "another") }, 404],
  ["an unknown path", { path: "/metrics" }, 404],
  ["another method", { method: "POST" }, 405],
  ["a stream without an upgrade", { method: "GET", path: pathOf("console") }, 400],
  ["a body that is not JSON", { path: pathOf("freeze"), body: "{bad" }, 400],
  ["an endless body", { path: pathOf("freeze"), body: Buffer.alloc(1 << 17) }, 413],
] as const)("%s: rejected, and no launcher is asked", async (_, asked, code) => {
  const { server, calls } = await serve();
  expect(await ask(server.port, asked)).toMatchObject({ code });
  expect(calls).toEqual([]);
});

test("a VMI that has moved to another node is not served here", async () => {
  const moved = { ...vmi, status: { ...vmi.status, nodeName: "node02" } };
  const guest = { vmi: moved } as unknown as ServedGuest;
  const { server } = await serve({}, { findGuest: () => guest });
  expect(await ask(server.port)).toMatchObject({ code: 404 });
});

test("upgrades are rejected with a code, too", async () => {
  const { server } = await serve();
  for (const [path, code] of [
    [pathOf("vsock", { port: "x" }), 400],
    [pathOf("console"), 500],
    [pathOf("pause"), 405],
    [pathOf("console").replace(name, "another"), 404],
  ] as const) {
    const client = dial(server.port, path);
    client.on("error", () => {});
    const [, response] = await once(client, "unexpected-response");
    expect([path, response.statusCode]).toEqual([path, code]);
    client.terminate();
  }
});

test("a launcher that does not answer uses only its own slots", async () => {
  const never = new Promise<never>(() => {});
  const { server } = await serve(
    { pause: () => never, users: async () => [] },
    { limits: { requestsPerVmi: 2 } },
  );
  const stuck = [1, 2].map(() => ask(server.port).catch(() => {}));
  const another = async (): Promise<number> =>
    (await ask(server.port, { method: "GET", path: pathOf("userlist") })).code;
  await expect.poll(another).toBe(503);
  expect((await ask(server.port, { path: "/x" })).code).toBe(404);
  void stuck;
});

test("garbage, half requests and floods of connections end, and the server keeps serving", async () => {
  const { server } = await serve({}, { limits: { connections: 20 } });
  const sockets = Array.from({ length: 60 }, (_, index) => {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {}).resume();
    if (index % 2 === 0) socket.write("\x16\x03\x01\xff\xffgarbage");
    return socket;
  });
  // Above the limit they are closed at once; those within it when their garbage is read.
  await expect.poll(() => sockets.filter(({ destroyed }) => destroyed).length).toBeGreaterThan(30);
  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await ask(server.port).catch(() => undefined))?.code).toBe(202);
});
