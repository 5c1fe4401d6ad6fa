import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { createPod, type PodFixture } from "@virtkit/lab";
import { expect, onTestFinished, test } from "vitest";
import { openSandbox } from "../sandbox/sandbox.ts";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { openConsole, openUsbRedirection, openVnc } from "./guest-streams.ts";

const vmi = sampleVmi();
const uid = vmi.metadata?.uid ?? "";

/** QEMU's end of a socket: answers with its name and what it is told. */
async function serve(pod: PodFixture, name: string): Promise<Server> {
  pod.run(`mkdir -p /run/kubevirt-private/${uid}`);
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => socket.write(`${name}: ${data}`));
  });
  // By a short path: that of a unix socket has at most 107 bytes.
  server.listen(`/proc/${pod.pid}/root/run/kubevirt-private/${uid}/${name}`);
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return server;
}

test("the newest client reaches a guest's console and screen in its sandbox", async () => {
  await using pod = await createPod();
  using sandbox = openSandbox({ podUid: pod.podUid, pid: pod.pid });
  await serve(pod, "virt-serial0");
  await serve(pod, "virt-vnc");
  const first = await openConsole(sandbox, vmi);
  first.write("a");
  expect(String(await once(first, "data"))).toBe("virt-serial0: a");
  await expect(openConsole(sandbox, vmi, { preserveSession: true })).rejects.toMatchObject({
    code: "DOMAIN_STREAM_BUSY",
  });
  const second = await openConsole(sandbox, vmi);
  expect(first.errored).toMatchObject({ code: "DOMAIN_STREAM_TAKEN" });
  second.write("b");
  expect(String(await once(second, "data"))).toBe("virt-serial0: b");
  const screen = await openVnc(sandbox, vmi);
  screen.write("c");
  expect(String(await once(screen, "data"))).toBe("virt-vnc: c");
  for (const stream of [second, screen]) stream.destroy();
});

test("a link in place of a socket is not followed", async () => {
  await using pod = await createPod();
  using sandbox = openSandbox({ podUid: pod.podUid, pid: pod.pid });
  await serve(pod, "other");
  pod.run(`ln -s other /run/kubevirt-private/${uid}/virt-serial0`);
  await expect(openConsole(sandbox, vmi)).rejects.toMatchObject({
    code: "DOMAIN_STREAM_LOST",
    cause: expect.objectContaining({ code: "HOST_PATH_UNSAFE" }),
  });
  await expect(openVnc(sandbox, vmi)).rejects.toMatchObject({ code: "DOMAIN_STREAM_LOST" });
});

test("four USB devices can be redirected at once, and a fifth waits until one is gone", async () => {
  await using pod = await createPod();
  using sandbox = openSandbox({ podUid: pod.podUid, pid: pod.pid });
  for (const slot of [0, 1, 2, 3]) await serve(pod, `virt-usbredir-${slot}`);
  const streams = await Promise.all([0, 1, 2, 3].map(() => openUsbRedirection(sandbox, vmi)));
  const said = streams.map(async (stream) => {
    stream.write("a");
    return String(await once(stream, "data"));
  });
  expect((await Promise.all(said)).sort()).toEqual(
    [0, 1, 2, 3].map((slot) => `virt-usbredir-${slot}: a`),
  );
  await expect(openUsbRedirection(sandbox, vmi)).rejects.toMatchObject({
    code: "DOMAIN_STREAM_BUSY",
  });
  const [gone] = streams.splice(1, 1);
  const closed = new Promise((resolve) => gone?.once("close", resolve));
  gone?.destroy();
  await closed;
  streams.push(await openUsbRedirection(sandbox, vmi));
  for (const stream of streams) stream.destroy();
});
