import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Duplex } from "node:stream";
import { createServer, type TLSSocket } from "node:tls";
import {
  apiServerIdentity,
  type Credentials,
  nodeAgentIdentity,
  peerIdentity,
  serverTlsOptions,
  vsockIdentity,
} from "@virtkit/pki";
import { expect, test } from "vitest";
import { duplexPair } from "../testing/duplex-pair.ts";
import { testAuthority } from "../testing/test-authority.ts";
import { type VsockDialerOptions, vsockDialer } from "./dial-vsock.ts";

const { signal } = new AbortController();
/** Something that is there, as it is where the module is loaded. */
const vhost = import.meta.filename;

/** A dialer whose guests are the other ends of what it opens. */
function dialer(options: VsockDialerOptions = {}) {
  const dialled: { readonly to: string; readonly guest: Duplex }[] = [];
  const dial = vsockDialer({
    vhost,
    connect: async ({ cid, port }) => {
      const [guest, ours] = duplexPair();
      dialled.push({ to: `${cid}:${port}`, guest });
      return ours;
    },
    ...options,
  });
  return { dial, dialled };
}

test("a port of a guest is dialled by the guest's CID", async () => {
  const { dial, dialled } = dialer();
  const stream = await dial({ cid: 7, port: 22, tls: false }, { signal });
  stream.write("hello");
  expect(dialled.map(({ to }) => to)).toEqual(["7:22"]);
  expect(String((await once(dialled[0]?.guest as Duplex, "data"))[0])).toBe("hello");
});

test.each([0, 1, 2, -1, 2 ** 32 - 1, 3.5])(
  "the CID %d is not a guest's, and is not dialled",
  async (cid) => {
    const { dial, dialled } = dialer();
    await expect(dial({ cid, port: 22, tls: false }, { signal })).rejects.toMatchObject({
      ...{ code: "AGENT_VSOCK", message: expect.stringMatching(/^status\.VSOCKCID is/) },
    });
    expect(dialled).toEqual([]);
  },
);

test("a node without vhost_vsock dials nobody: the kernel would ask the host beneath it", async () => {
  const { dial, dialled } = dialer({ vhost: "/nowhere" });
  await expect(dial({ cid: 7, port: 22, tls: false }, { signal })).rejects.toMatchObject({
    ...{ code: "AGENT_VSOCK", path: "CID 7 port 22" },
    message: expect.stringMatching(/modprobe vhost_vsock/),
  });
  expect(dialled).toEqual([]);
});

test("by default it asks this kernel, which says what it lacks or that there is no such guest", async () => {
  // 0xfffffffe is nobody's: what is asked for stays in this kernel where it carries VSOCK to guests, and is not asked else.
  const dialling = vsockDialer()({ cid: 0xffff_fffe, port: 1, tls: false }, { signal });
  await expect(dialling).rejects.toMatchObject({
    code: "AGENT_VSOCK",
    message: existsSync("/sys/class/misc/vhost-vsock")
      ? expect.stringMatching(/no guest with CID 4294967294 runs on this host/)
      : expect.stringMatching(/the kernel has not loaded vhost_vsock/),
  });
});

/** The guest's end of TLS. */
async function answer(guest: Duplex, own: Credentials): Promise<TLSSocket> {
  const server = createServer(serverTlsOptions(own));
  server.emit("connection", guest);
  const [socket] = await once(server, "secureConnection");
  return socket as TLSSocket;
}

test("with TLS the guest is shown a certificate that no server of the platform accepts", async () => {
  using authority = await testAuthority();
  const shown = await authority.issue(vsockIdentity("node01"));
  const own = await authority.issue(nodeAgentIdentity("other"));
  const { dial, dialled } = dialer({ credentials: async () => shown });
  const opening = dial({ cid: 7, port: 22, tls: true }, { signal });
  while (dialled.length === 0) await new Promise(setImmediate);
  const answering = answer(dialled[0]?.guest as Duplex, own);
  const [stream, guest] = await Promise.all([opening, answering]);
  guest.on("data", (part) => guest.write(`guest heard ${part}`));
  stream.write("hello");
  expect(String((await once(stream, "data"))[0])).toBe("guest heard hello");
  expect(peerIdentity(guest, own, { anyOf: "vsock" })).toEqual(vsockIdentity("node01"));
  for (const role of [apiServerIdentity(), nodeAgentIdentity("node01")]) {
    expect(() => peerIdentity(guest, own, role)).toThrow(/not for/);
  }
  stream.destroy();
});

test("a guest that does not speak TLS, one that hangs up and one that is silent are refused, and let go", async () => {
  using authority = await testAuthority();
  const shown = await authority.issue(vsockIdentity("node01"));
  const { dial, dialled } = dialer({ credentials: async () => shown, timeout: 300 });
  const answers: ((guest: Duplex) => void)[] = [
    (guest) => guest.write("SSH-2.0-guest\r\n"),
    (guest) => guest.destroy(),
    () => {},
  ];
  for (const [index, act] of answers.entries()) {
    const opening = dial({ cid: 7, port: 22, tls: true }, { signal });
    const refused = expect(opening).rejects.toMatchObject({
      ...{
        code: "AGENT_VSOCK",
        message: expect.stringMatching(/^TLS with port 22 of .* CID 7 failed: /),
      },
    });
    while (dialled.length <= index) await new Promise(setImmediate);
    const guest = dialled[index]?.guest as Duplex;
    act(guest);
    await refused;
    if (!guest.destroyed) await once(guest, "close");
  }
});

test("without a certificate for guests TLS is refused before anybody is dialled", async () => {
  const { dial, dialled } = dialer();
  await expect(dial({ cid: 7, port: 22, tls: true }, { signal })).rejects.toMatchObject({
    message: expect.stringMatching(/no certificate to show to guests/),
  });
  expect(dialled).toEqual([]);
});
