import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import {
  type ConnectionOptions,
  connect,
  createServer,
  type Server,
  type TLSSocket,
} from "node:tls";
import { ManualClock } from "@virtkit/api/clock";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { CertificateAuthority } from "./certificate-authority.ts";
import type { Credentials } from "./credentials.ts";
import {
  describeIdentity,
  type Expectation,
  migrationIdentity,
  nodeAgentIdentity,
} from "./identity.ts";
import { RenewedCredentials } from "./renewed-credentials.ts";
import { clientTlsOptions, peerIdentity, serverTlsOptions } from "./tls-options.ts";

const uid = "6f4e58b1-6a35-4cf7-a3a4-5a29f57d8f9c";
const source = migrationIdentity(uid, "source");
const target = migrationIdentity(uid, "target");
const hour = 3_600_000;

const newAuthority = (now?: () => Date): Promise<CertificateAuthority> =>
  CertificateAuthority.open({
    trustDomain: "lab",
    store: { read: async () => undefined, swap: async () => true },
    ...(now && { now }),
  });

let authority: CertificateAuthority;
beforeAll(async () => {
  authority = await newAuthority();
});

const open = new Set<Server | Socket>();
afterEach(async () => {
  const servers = [...open].filter((one) => "listening" in one);
  for (const one of open) if ("destroy" in one) one.destroy();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  open.clear();
});

/** Sends the client's identity to a client that is as expected. */
async function serve(credentials: Credentials, expected: Expectation): Promise<Server> {
  const server = createServer(serverTlsOptions(credentials), (socket) => {
    open.add(socket);
    // Some of these tests are about a client that disconnects halfway.
    socket.on("error", () => undefined);
    try {
      socket.write(describeIdentity(peerIdentity(socket, credentials, expected)));
    } catch {
      socket.destroy();
    }
  });
  open.add(server);
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** What the server says, or why there is no connection. */
async function dial(
  server: Server,
  options: ConnectionOptions,
): Promise<{ socket: TLSSocket; said: string }> {
  const socket = connect({ port: portOf(server), host: "127.0.0.1", ...options });
  open.add(socket);
  const said = await new Promise<string>((resolve, reject) => {
    socket.once("data", (data) => resolve(String(data)));
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("closed without a word")));
  });
  return { socket, said };
}

describe("a server and a client of one migration", () => {
  it("recognise each other", async () => {
    const server = await serve(await authority.issue(target), source);
    const { said, socket } = await dial(
      server,
      clientTlsOptions(await authority.issue(source), target),
    );
    expect(said).toBe(`migration/${uid}/source`);
    expect(socket.getProtocol()).toBe("TLSv1.3");
  });

  it.each<[string, Expectation]>([
    ["a node agent", nodeAgentIdentity("node-1")],
    ["another migration", migrationIdentity("other", "source")],
    ["the same side", target],
  ])("the server rejects a client that is %s", async (_who, identity) => {
    const server = await serve(await authority.issue(target), source);
    const credentials = await authority.issue(identity as typeof source);
    await expect(dial(server, clientTlsOptions(credentials, target))).rejects.toThrow();
    // Control: the certificate is good for TLS itself, and for a peer that expects it.
    const welcoming = await serve(await authority.issue(target), identity);
    await expect(dial(welcoming, clientTlsOptions(credentials, target))).resolves.toBeDefined();
  });

  it.each([
    ["a node agent", nodeAgentIdentity("node-1")],
    ["another migration", migrationIdentity("other", "target")],
    ["the same side", source],
  ])("the client rejects a server that is %s", async (_who, identity) => {
    const server = await serve(await authority.issue(identity), source);
    const credentials = await authority.issue(source);
    await expect(dial(server, clientTlsOptions(credentials, target))).rejects.toMatchObject({
      code: "PKI_UNTRUSTED",
      path: "identity",
    });
    // Control: without the check of the identity it goes through.
    const careless = {
      ...clientTlsOptions(credentials, target),
      checkServerIdentity: () => undefined,
    };
    await expect(dial(server, careless)).resolves.toBeDefined();
  });

  it("rejects a client without a certificate, of another authority or with an expired one", async () => {
    const server = await serve(await authority.issue(target), source);
    const good = await authority.issue(source);
    const { cert: _cert, key: _key, ...nobody } = clientTlsOptions(good, target);
    await expect(dial(server, nobody)).rejects.toThrow();
    const other = await (await newAuthority()).issue(source);
    const stranger = clientTlsOptions({ ...other, authorities: good.authorities }, target);
    await expect(dial(server, stranger)).rejects.toThrow();
    const past = Date.now() - 48 * hour;
    const old = await (await newAuthority(() => new Date(past))).issue(source);
    const trusting = await serve(
      { ...(await authority.issue(target)), authorities: authority.bundle + old.authorities },
      source,
    );
    const expired = clientTlsOptions({ ...old, authorities: good.authorities }, target);
    await expect(dial(trusting, expired)).rejects.toThrow();
  });

  it("also checks validity by the given clock", async () => {
    const server = await serve(await authority.issue(target), source);
    const now = (): Date => new Date(Date.now() + 48 * hour);
    const options = clientTlsOptions(await authority.issue(source), target, { now });
    await expect(dial(server, options)).rejects.toMatchObject({ path: "validity" });
  });
});

describe("renewed credentials", () => {
  it("are used for new connections, and open ones stay", async () => {
    const clock = new ManualClock();
    const renewed = await RenewedCredentials.start({
      obtain: () => authority.issue(target),
      clock,
    });
    const server = await serve(renewed.current, source);
    renewed.serve(server);
    const client = clientTlsOptions(await authority.issue(source), target);
    const before = await dial(server, client);
    const first = renewed.current;
    await clock.pass(20 * 60_000);
    await renewed.renew();
    expect(renewed.current.certificate).not.toBe(first.certificate);
    const after = await dial(server, client);
    const serial = ({ socket }: typeof before) => socket.getPeerCertificate().serialNumber;
    expect(serial(after)).not.toBe(serial(before));
    const echoed = once(before.socket, "data");
    for (const socket of open)
      if (socket !== before.socket && "write" in socket) socket.write("still here");
    await expect(echoed).resolves.toBeDefined();
    renewed.close();
    expect(clock.pending).toBe(0);
  });

  it("stay if they cannot be renewed, and the failure is logged", async () => {
    const clock = new ManualClock();
    const warnings: unknown[] = [];
    const log = {
      debug() {},
      info() {},
      error() {},
      warn: (details: unknown) => warnings.push(details),
    };
    let fails = false;
    const obtain = async (): Promise<Credentials> => {
      if (fails) throw new Error("no store");
      return await authority.issue(target);
    };
    using renewed = await RenewedCredentials.start({ obtain, clock, log });
    const first = renewed.current;
    fails = true;
    await clock.pass(20 * 60_000);
    expect(renewed.current).toBe(first);
    expect(warnings).toEqual([{ error: "Error: no store" }]);
    fails = false;
    await renewed.renew();
    expect(renewed.current).not.toBe(first);
  });

  it("fail at once if there are none to begin with", async () => {
    const obtain = () => Promise.reject(new Error("no store"));
    await expect(RenewedCredentials.start({ obtain })).rejects.toThrow("no store");
  });
});
