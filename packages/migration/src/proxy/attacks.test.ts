import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer as createPlainServer, type Socket } from "node:net";
import path from "node:path";
import { connect as connectTls, createServer, type TLSSocket } from "node:tls";
import { ManualClock } from "@virtkit/api/clock";
import { listenUnix } from "@virtkit/host-primitives/sockets";
import {
  type Credentials,
  clientTlsOptions,
  migrationIdentity,
  nodeAgentIdentity,
  serverTlsOptions,
} from "@virtkit/pki";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { startSourceProxy } from "./source-proxy.ts";
import {
  closed,
  eventually,
  newAuthority,
  openDescriptors,
  readAll,
  sharedAuthority,
  sourceCredentials,
  startProxies,
  startTarget,
  stopAll,
  uid,
} from "./testing/proxy-fixture.ts";

afterEach(stopAll);

const nothing = (): void => undefined;
const echo = (socket: Socket): void => void socket.pipe(socket);
const hour = 3_600_000;

/** Certificates that must not do for a side of the migration. */
const wrong = [
  "of another role",
  "of another migration",
  "of the other side",
  "that has expired",
  "of another authority",
] as const;

/** What the target's log says of them. */
const reasons: Readonly<Record<(typeof wrong)[number], RegExp>> = {
  "of another role": /is for node-agent\/node-1, not for migration/,
  "of another migration": /is for migration\/another\/source, not for migration/,
  "of the other side": /is for migration\/.*\/target, not for migration/,
  "that has expired": /its certificate has expired/,
  "of another authority": /or comes from another CA/,
};

async function wrongCredentials(
  what: (typeof wrong)[number],
  side: "source" | "target",
): Promise<{ credentials: Credentials; trusted: Credentials }> {
  const other = side === "source" ? "target" : "source";
  // Opened two days ago: its own certificate is still valid, those of that day are not.
  let time = Date.now() - 48 * hour;
  const authority =
    what === "that has expired"
      ? await newAuthority(() => new Date(time))
      : await sharedAuthority();
  const issue = async (): Promise<Credentials> => {
    switch (what) {
      case "of another role":
        return await authority.issue(nodeAgentIdentity("node-1"));
      case "of another migration":
        return await authority.issue(migrationIdentity("another", side));
      case "of the other side":
        return await authority.issue(migrationIdentity(uid, other));
      case "that has expired":
        return await authority.issue(migrationIdentity(uid, side));
      case "of another authority":
        return await (await newAuthority()).issue(migrationIdentity(uid, side));
    }
  };
  const credentials = await issue();
  time = Date.now();
  const trusted = await authority.issue(migrationIdentity(uid, other));
  return { credentials: { ...credentials, authorities: trusted.authorities }, trusted };
}

describe("a target's proxy", () => {
  it.each(wrong)(
    "dials nothing for a certificate %s; control: naive TLS accepts it",
    async (what) => {
      const { credentials, trusted } = await wrongCredentials(what, "source");
      const dial = vi.fn(async () => await Promise.reject<Socket>(new Error("dialled")));
      const warn = vi.fn();
      const { proxy } = await startTarget({
        serve: nothing,
        target: {
          credentials: trusted,
          log: { debug: nothing, info: nothing, error: nothing, warn },
          channels: [
            { name: "libvirt", kind: "control", dial },
            { name: "memory", kind: "data", dial },
          ],
        },
      });
      for (const greeting of ["stream libvirt", "ticket memory", "hello"]) {
        const attacker = dialCareless(proxy.controlPort, credentials);
        attacker.write(`virtkit-migration/1 ${greeting}\n`);
        expect(String(await readAll(attacker))).toBe("");
        attacker.destroy();
      }
      expect(dial).not.toHaveBeenCalled();
      expect(warn).toHaveBeenCalledTimes(3);
      for (const [{ error }] of warn.mock.calls) expect(error).toMatch(reasons[what]);

      const naive = createServer(
        { ...serverTlsOptions(trusted), rejectUnauthorized: false },
        (socket) => socket.end("let in"),
      );
      naive.listen(0, "127.0.0.1");
      await once(naive, "listening");
      const attacker = dialCareless((naive.address() as { port: number }).port, credentials);
      expect(String(await readAll(attacker))).toBe("let in");
      attacker.destroy();
      naive.close();
    },
  );

  it("dials nothing for garbage, silence, half a ticket or an invented one, and keeps serving", async () => {
    const clock = new ManualClock();
    const served = vi.fn(echo);
    const proxies = await startProxies({ serve: served, target: { clock } });
    const { controlPort, dataPort } = proxies.target;
    const garbage = [
      randomBytes(100_000),
      Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
      Buffer.from("virtkit-migration/1 stream libvirt\n"),
      Buffer.alloc(1 << 20),
      randomBytes(31),
      Buffer.alloc(0),
    ];
    for (const port of [controlPort, dataPort]) {
      for (const bytes of garbage) {
        const socket = connect(port, "127.0.0.1").resume();
        socket.on("error", nothing);
        socket.end(bytes);
        await once(socket, "connect");
        // What is wrong is seen at once; silence only by the time it takes.
        if (bytes.length === 0) await clock.pass(11_000);
        await closed(socket);
      }
    }
    expect(served).not.toHaveBeenCalled();
    await expect(works(proxies.dial("memory"))).resolves.toBe(true);
  });

  it("accepts a ticket once, and only for a limited time", async () => {
    const clock = new ManualClock();
    const served = vi.fn(echo);
    const { proxy } = await startTarget({ serve: served, target: { clock } });
    const ticket = async (): Promise<Buffer> => {
      const line = await ask(proxy.controlPort, "ticket memory");
      return Buffer.from(line.slice("ok ".length), "hex");
    };
    const show = async (bytes: Buffer): Promise<boolean> => {
      const socket = connect(proxy.dataPort, "127.0.0.1");
      socket.write(bytes);
      return await works(socket);
    };
    const first = await ticket();
    await expect(show(first)).resolves.toBe(true);
    await expect(show(first)).resolves.toBe(false);
    const second = await ticket();
    await clock.pass(11_000);
    await expect(show(second)).resolves.toBe(false);
    expect(served).toHaveBeenCalledTimes(1);
  });

  it("rejects a channel it does not offer, even from a good peer, and a greeting without an end", async () => {
    const served = vi.fn(echo);
    const { proxy } = await startTarget({ serve: served });
    for (const greeting of [
      "stream memory",
      "ticket libvirt",
      "stream disks",
      "stream ../libvirt",
      "stream libvirt x",
      "release",
      "x".repeat(1 << 20),
    ]) {
      await expect(ask(proxy.controlPort, greeting)).resolves.toBe("");
    }
    expect(served).not.toHaveBeenCalled();
  });

  it("issues no more tickets than connections may wait", async () => {
    const { proxy } = await startTarget({ serve: echo, target: { limits: { waiting: 3 } } });
    const answers: string[] = [];
    for (let count = 0; count < 5; count++)
      answers.push(await ask(proxy.controlPort, "ticket memory"));
    expect(answers.map((answer) => answer.slice(0, 2))).toEqual(["ok", "ok", "ok", "er", "er"]);
  });

  it("is not held up by 1,000 silent connections", async () => {
    const clock = new ManualClock();
    const proxies = await startProxies({ serve: echo, target: { clock } });
    const before = openDescriptors();
    const memory = process.memoryUsage().rss;
    const silent: Socket[] = [];
    for (let count = 0; count < 1_000; count++) {
      const port = count % 2 === 0 ? proxies.target.controlPort : proxies.target.dataPort;
      const socket = connect(port, "127.0.0.1").resume();
      socket.on("error", nothing);
      socket.once("end", () => socket.destroy());
      silent.push(socket);
      if (count % 50 === 0) await once(socket, "connect");
    }
    await Promise.all(
      silent.map(async (socket) => {
        if (socket.connecting) await once(socket, "connect");
      }),
    );
    // Both ends are in this process: 32 that may wait are 64.
    await eventually(openDescriptors).toBeLessThanOrEqual(before + 64);
    expect(process.memoryUsage().rss - memory).toBeLessThan(200 << 20);
    await expect(works(proxies.dial("memory"))).resolves.toBe(true);
    await expect(works(proxies.dial("libvirt"))).resolves.toBe(true);
    await clock.pass(11_000);
    await Promise.all(silent.map(closed));
  }, 60_000);

  it("closes a socket that its dialler brings too late, and reports a dialler that fails", async () => {
    const clock = new ManualClock();
    const warn = vi.fn();
    let bring: (socket: Socket) => void = nothing;
    const late = new Promise<Socket>((resolve) => {
      bring = resolve;
    });
    const dial = vi.fn(() => late);
    const { directory, proxy } = await startTarget({
      serve: nothing,
      target: {
        clock,
        log: { debug: nothing, info: nothing, error: nothing, warn },
        channels: [
          { name: "late", kind: "control", dial },
          {
            name: "gone",
            kind: "control",
            dial: () => Promise.reject(new Error("no such socket")),
          },
        ],
      },
    });
    await expect(ask(proxy.controlPort, "stream gone")).resolves.toBe(
      "error gone does not exist\n",
    );
    expect(warn).toHaveBeenCalledWith({ error: "Error: no such socket" }, expect.any(String));
    const asked = ask(proxy.controlPort, "stream late");
    await eventually(() => dial.mock.calls.length).toBe(1);
    await clock.pass(11_000);
    await expect(asked).resolves.toBe("");
    // Nobody waits for it any more.
    await proxy.close();
    const socket = connect(path.join(directory, "target-memory"));
    socket.on("error", nothing);
    bring(socket);
    await closed(socket);
  });
});

describe("a source's proxy", () => {
  it.each(wrong)(
    "does not begin with a target whose certificate is one %s; control: naive TLS does",
    async (what) => {
      const { credentials, trusted } = await wrongCredentials(what, "target");
      const before = openDescriptors();
      const { directory, proxy } = await startTarget({
        serve: nothing,
        target: { credentials: { ...credentials, authorities: trusted.authorities } },
      });
      const file = path.join(directory, "source");
      await expect(
        startSourceProxy({
          uid,
          credentials: trusted,
          target: { host: "127.0.0.1", controlPort: proxy.controlPort, dataPort: proxy.dataPort },
          channels: [{ name: "memory", kind: "data", listener: listenUnix(file) }],
        }),
      ).rejects.toMatchObject({ code: "MIGRATION_PEER_REFUSED", path: "target" });
      await expect(once(connect(file), "connect")).rejects.toThrow("ECONNREFUSED");
      const naive = dialCareless(proxy.controlPort, trusted);
      await once(naive, "secureConnect");
      naive.destroy();
      await stopAll();
      await eventually(openDescriptors).toBe(before);
    },
  );

  it("does not wait for a silent target", async () => {
    const clock = new ManualClock();
    const silent = createPlainServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as { port: number };
    const start = startSourceProxy({
      uid,
      credentials: await sourceCredentials(),
      target: { host: "127.0.0.1", controlPort: port, dataPort: port },
      channels: [],
      clock,
    });
    const failed = expect(start).rejects.toMatchObject({
      code: "MIGRATION_PEER_REFUSED",
      message: "the peer was given up, because it took too long",
    });
    await clock.pass(11_000);
    await failed;
    silent.close();
  });

  it("says why it does not begin", async () => {
    const { credentials, trusted } = await wrongCredentials("of another migration", "target");
    const { proxy } = await startTarget({ serve: nothing, target: { credentials } });
    const start = startSourceProxy({
      uid,
      credentials: trusted,
      target: { host: "127.0.0.1", controlPort: proxy.controlPort, dataPort: proxy.dataPort },
      channels: [],
    });
    await expect(start).rejects.toThrow(
      `is for migration/another/target, not for migration/${uid}/target`,
    );
  });

  describe("with a target that has the right certificate and lies", () => {
    let credentials: Credentials;
    beforeAll(async () => {
      credentials = await (await sharedAuthority()).issue(migrationIdentity(uid, "target"));
    });

    it.each([
      ["a ticket of the wrong length", "ok 00ff\n"],
      ["no ticket", "ok\n"],
      ["another answer", "yes\n"],
      ["an error", "error no\n"],
      ["a line without an end", "x".repeat(1 << 20)],
      ["nothing", ""],
    ])("closes a connection that it cannot carry: %s", async (_what, answer) => {
      const clock = new ManualClock();
      let asked = 0;
      const liar = createServer(serverTlsOptions(credentials), (socket) => {
        socket.on("error", nothing);
        // Honest once, so that the proxy begins.
        socket.write(asked++ === 0 ? "ok\n" : answer);
        socket.resume();
      });
      liar.listen(0, "127.0.0.1");
      await once(liar, "listening");
      const { directory, proxy } = await startTarget({ serve: echo });
      const file = path.join(directory, "source");
      const source = await startSourceProxy({
        uid,
        credentials: await sourceCredentials(),
        target: {
          host: "127.0.0.1",
          controlPort: (liar.address() as { port: number }).port,
          dataPort: proxy.dataPort,
        },
        channels: [{ name: "memory", kind: "data", listener: listenUnix(file) }],
        clock,
      });
      const client = connect(file).resume();
      client.on("error", nothing);
      await eventually(() => asked).toBe(2);
      if (answer === "") await clock.pass(11_000);
      await closed(client);
      expect(source.streams).toBe(0);
      await source.close();
      liar.close();
    });
  });
});

/** A client that shows its certificate and looks at nobody else's. */
function dialCareless(port: number, credentials: Credentials): TLSSocket {
  const socket = connectTls({
    ...clientTlsOptions(credentials, { anyOf: "migration" }),
    host: "127.0.0.1",
    port,
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
  });
  socket.on("error", nothing);
  return socket;
}

/** What the target's proxy answers to a greeting of the right peer. */
async function ask(port: number, greeting: string): Promise<string> {
  const socket = dialCareless(port, await sourceCredentials());
  socket.write(`virtkit-migration/1 ${greeting}\n`);
  const said = await readAll(socket);
  socket.destroy();
  return String(said);
}

/** Whether a socket leads to the echo. */
async function works(socket: Socket): Promise<boolean> {
  socket.on("error", nothing);
  socket.write("ping");
  const said = await Promise.race([
    once(socket, "data").then(String, () => ""),
    closed(socket).then(() => ""),
  ]);
  socket.destroy();
  return said === "ping";
}
