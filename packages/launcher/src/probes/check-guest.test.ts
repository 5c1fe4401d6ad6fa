import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { DomainManagerError } from "@virtkit/domain-manager";
import { expect, onTestFinished, test } from "vitest";
import { type CheckedGuest, checkGuest } from "./check-guest.ts";
import type { ProbeAction } from "./plan-probes.ts";

const silent: CheckedGuest = {
  exec: () => Promise.reject(new DomainManagerError("DOMAIN_AGENT", "no agent")),
  guestPing: () => Promise.reject(new DomainManagerError("DOMAIN_AGENT", "no agent")),
};

async function check(action: ProbeAction, guest = silent, milliseconds = 10_000): Promise<void> {
  await checkGuest(guest, { action, timeout: 1 }, { signal: AbortSignal.timeout(milliseconds) });
}

async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const get = (url: string, headers: [string, string][] = []): ProbeAction => ({
  kind: "http",
  url,
  headers,
});

test("a command passes with exit code 0, and otherwise fails with its output", async () => {
  const action: ProbeAction = { kind: "exec", command: "test", args: ["-e", "/x"] };
  const asked: unknown[] = [];
  const answering = (exitCode: number): CheckedGuest => ({
    ...silent,
    exec: async (request) => {
      asked.push(request);
      return { exitCode, stdout: "", stderr: "not there\n" };
    },
  });
  await check(action, answering(0));
  expect(asked).toEqual([{ command: "test", args: ["-e", "/x"], timeoutSeconds: 1 }]);
  await expect(check(action, answering(3))).rejects.toThrow("test exited with 3: not there");
  await expect(check(action)).rejects.toThrow("no agent");
  await expect(check({ kind: "agent" })).rejects.toThrow("no agent");
  await check({ kind: "agent" }, { ...silent, guestPing: async () => {} });
});

test("TCP passes if someone accepts the connection", async () => {
  const server = createTcpServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await check({ kind: "tcp", host: "127.0.0.1", port });
  await new Promise((resolve) => server.close(resolve));
  await expect(check({ kind: "tcp", host: "127.0.0.1", port })).rejects.toThrow("ECONNREFUSED");
});

test.each([200, 204, 302, 399])("HTTP passes with %s", async (status) => {
  await check(get(await served((_, response) => response.writeHead(status).end())));
});

test.each([400, 404, 500])("HTTP fails with %s", async (status) => {
  const url = await served((_, response) => response.writeHead(status).end());
  await expect(check(get(url))).rejects.toThrow(`answered ${status}`);
});

test("HTTP sends its headers, and follows redirects only to the guest itself", async () => {
  const seen: (string | undefined)[] = [];
  const url = await served(({ url: path, headers }, response) => {
    seen.push(`${path} ${headers["x-who"]}`);
    const location = { "/": "/next", "/next": "http://192.0.2.1/away" }[path ?? ""];
    response.writeHead(302, { location }).end();
  });
  await check(get(`${url}/`, [["X-Who", "me"]]));
  expect(seen).toEqual(["/ me", "/next me"]);
});

test("a guest that redirects in circles, or sends without end, costs only its time", async () => {
  const circle = await served((_, response) => response.writeHead(302, { location: "/" }).end());
  await expect(check(get(circle))).rejects.toThrow("more than 10 times");
  let closed = false;
  const endless = await served((request, response) => {
    const timer = setInterval(() => response.write("x".repeat(65_536)), 1);
    request.on("close", () => {
      clearInterval(timer);
      closed = true;
    });
  });
  await check(get(endless));
  await expect.poll(() => closed).toBe(true);
  // The control: one that reads the whole answer is saved only by its timeout.
  const reading = async (): Promise<string> =>
    await (await fetch(endless, { signal: AbortSignal.timeout(500) })).text();
  await expect(reading()).rejects.toThrow(/abort|timeout/i);
  const silence = await served(() => {});
  await expect(check(get(silence), silent, 100)).rejects.toThrow(/abort/i);
});
