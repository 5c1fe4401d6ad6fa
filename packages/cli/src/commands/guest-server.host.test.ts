import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import {
  type NodeSubresource,
  nodeRequestPath,
  streamProtocol,
  vmiUidHeader,
} from "@virtkit/api/subresources/node";
import { agentDirectory, connectVmi, openVmiSandbox, readRecord } from "@virtkit/local";
import { RunClaims } from "@virtkit/node-agent/claims";
import { type RequestEvent, startGuestServer } from "@virtkit/node-agent/guest-server";
import { GuestMetrics, prometheusText } from "@virtkit/node-agent/metrics";
import {
  apiServerIdentity,
  CertificateAuthority,
  type Credentials,
  clientTlsOptions,
  FileAuthorityStore,
  nodeAgentIdentity,
} from "@virtkit/pki";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { DemoHost } from "../testing/demo-host.ts";

const nodeName = "here";
const patience = 60_000;

/** What an API server asks a node agent about the demo. */
class Caller {
  readonly #port: number;
  readonly #credentials: Credentials;
  readonly #uid: string;

  constructor(port: number, credentials: Credentials, uid: string) {
    this.#port = port;
    this.#credentials = credentials;
    this.#uid = uid;
  }

  #target(subresource: NodeSubresource, query: Record<string, string> = {}) {
    return {
      ...clientTlsOptions(this.#credentials, nodeAgentIdentity(nodeName)),
      headers: { [vmiUidHeader]: this.#uid },
      path: nodeRequestPath({ namespace: "default", name: "demo", subresource, query }),
    };
  }

  async ask(method: string, subresource: NodeSubresource, body?: string) {
    const { path, ...options } = this.#target(subresource);
    const request = httpsRequest({
      ...{ host: "127.0.0.1", port: this.#port, agent: false, method, path },
      ...options,
    });
    request.end(body);
    const [response] = await once(request, "response");
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    return { code: response.statusCode as number, body: Buffer.concat(parts) };
  }

  /** Opens a stream, types the input, and waits for the expected output. */
  async hear(subresource: NodeSubresource, typed: string, expected: RegExp): Promise<WebSocket> {
    const { path, ...options } = this.#target(subresource);
    const client = new WebSocket(`wss://127.0.0.1:${this.#port}${path}`, streamProtocol, options);
    let said = "";
    client.on("message", (data: Buffer) => {
      said += data.toString("latin1");
    });
    await once(client, "open");
    client.send(Buffer.from(typed), { binary: true });
    await expect.poll(() => said, { timeout: patience }).toMatch(expected);
    return client;
  }
}

test("the API server reaches a real guest's console, screen and verbs through its node agent", async () => {
  await using host = await DemoHost.make();
  expect(await host.run(["--detach", "--wait", "agent-connected"]).end()).toMatchObject({
    code: 0,
  });
  const record = await readRecord(host.directory, "default", "demo");
  if (!record) throw new Error("the demo has no record");
  using sandbox = openVmiSandbox(host.directory, record);
  await using launcher = await connectVmi(host.directory, record);
  const uid = record.vmi.metadata?.uid ?? "";
  const vmi = { ...record.vmi, status: { ...record.vmi.status, nodeName } };
  const claims = new RunClaims(agentDirectory(host.directory));
  const keys = mkdtempSync(join(host.directory, "keys-"));
  const store = new FileAuthorityStore(keys);
  const authority = await CertificateAuthority.open({ store, trustDomain: "lab.example" });
  const events: RequestEvent[] = [];
  {
    await using server = await startGuestServer({
      ...{ nodeName, address: "127.0.0.1", port: 0 },
      credentials: { current: await authority.issue(nodeAgentIdentity(nodeName)) },
      findGuest: (_, name) =>
        name === "demo"
          ? {
              ...{ vmi, sandbox, launcher: async () => launcher },
              mayRun: () => claims.claim({ namespace: "default", name, uid }, sandbox),
            }
          : undefined,
      recordEvent: (_, event) => events.push(event),
    });
    const caller = new Caller(server.port, await authority.issue(apiServerIdentity()), uid);

    const first = await caller.hear(
      "console",
      "echo from-$((40+2))-the-guest\r",
      /from-42-the-guest/,
    );
    // The newest client has the console; the previous one is told why.
    const taken = once(first, "close");
    const second = await caller.hear("console", "echo again-$((40+2))\r", /again-42/);
    expect((await taken)[0]).toBe(1001);
    second.close();
    (await caller.hear("vnc", "", /^RFB 003\.\d{3}\n/)).close();
    const { code, body } = await caller.ask("GET", "vnc/screenshot");
    expect([code, body.length > 1_000]).toEqual([200, true]);

    expect(await caller.ask("PUT", "pause")).toMatchObject({ code: 202 });
    expect(await launcher.status()).toMatchObject({ state: "Paused" });
    expect(await caller.ask("PUT", "unpause")).toMatchObject({ code: 202 });
    expect(await launcher.status()).toMatchObject({ state: "Running" });
    const info = JSON.parse(String((await caller.ask("GET", "guestosinfo")).body));
    expect(info).toMatchObject({ guestAgentVersion: expect.any(String), os: expect.any(Object) });
    for (const list of ["userlist", "filesystemlist"] as const) {
      const answer = await caller.ask("GET", list);
      expect([list, answer.code, JSON.parse(String(answer.body))]).toEqual([
        list,
        200,
        { metadata: {}, items: expect.any(Array) },
      ]);
    }
    const text = prometheusText(await new GuestMetrics().collect([{ vmi, launcher }]));
    expect(text).toMatch(/^kubevirt_vmi_cpu_usage_seconds_total\{.*name="demo".*\} [\d.]+$/m);
    expect(text).toMatch(
      /^kubevirt_vmi_network_receive_bytes_total\{.*interface="default".*\} \d+$/m,
    );
    expect(await caller.ask("PUT", "reset")).toMatchObject({ code: 202 });
    expect(events.map(({ reason }) => reason)).toEqual(["Paused", "Unpaused", "Reset"]);

    // A later VMI of the same name is a different one.
    const stale = new Caller(server.port, await authority.issue(apiServerIdentity()), "another");
    expect(await stale.ask("PUT", "pause")).toMatchObject({ code: 409 });
    const other = new Caller(server.port, await authority.issue(nodeAgentIdentity("node02")), uid);
    await expect(other.ask("PUT", "pause")).rejects.toThrow();
    expect(await launcher.status()).toMatchObject({ state: "Running" });
  }
  rmSync(keys, { recursive: true });
});
