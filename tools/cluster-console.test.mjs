import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { openConsole } from "./cluster-console.mjs";
import { root } from "./setup.mjs";

const { WebSocketServer } = createRequire(path.join(root, "packages/cli/package.json"))("ws");

/** A server with the console of `default/demo`, which echoes in capital letters and ends with `exit`. */
async function serve() {
  const place = "/namespaces/default/virtualmachineinstances/demo/console";
  const server = new WebSocketServer({
    port: 0,
    handleProtocols: () => "plain.kubevirt.io",
    verifyClient: (/** @type {any} */ { req }) =>
      req.url === `/apis/subresources.kubevirt.io/v1${place}` &&
      req.headers.authorization === "Bearer secret",
  });
  server.on("connection", (/** @type {any} */ socket) => {
    socket.send(Buffer.from("login: "));
    socket.on("message", (/** @type {Buffer} */ data) => {
      if (`${data}` === "exit") socket.close();
      else socket.send(Buffer.from(`${data}`.toUpperCase()));
    });
  });
  await new Promise((resolve) => server.once("listening", resolve));
  const folder = mkdtempSync(path.join(tmpdir(), "virtkit-console-"));
  const kubeconfig = path.join(folder, "admin.conf");
  const cluster = {
    server: `http://127.0.0.1:${server.address().port}`,
    "certificate-authority-data": "",
  };
  const users = [{ user: { token: "secret" } }];
  writeFileSync(kubeconfig, JSON.stringify({ clusters: [{ cluster }], users }));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  return kubeconfig;
}

/** @param {string} name @param {AbortSignal} [signal] */
async function opened(name, signal = new AbortController().signal) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let shown = "";
  stdout.on("data", (chunk) => {
    shown += chunk;
  });
  const vmi = { namespace: "default", name };
  const ended = openConsole(await serve(), vmi, signal, { stdin, stdout });
  return { press: (/** @type {string} */ keys) => stdin.write(keys), shown: () => shown, ended };
}

test("a console shows what the guest writes and sends it what is typed, until Ctrl-]", async () => {
  const { press, shown, ended } = await opened("demo");
  await expect.poll(shown).toBe("login: ");
  press("root\r");
  await expect.poll(shown).toBe("login: ROOT\r");
  press("\x1d");
  expect(await ended).toBe("");
});

test("what is typed before the console is open is not lost", async () => {
  const kubeconfig = await serve();
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let shown = "";
  stdout.on("data", (chunk) => {
    shown += chunk;
  });
  const vmi = { namespace: "default", name: "demo" };
  const never = new AbortController().signal;
  const ended = openConsole(kubeconfig, vmi, never, { stdin, stdout });
  stdin.write("early");
  await expect.poll(() => shown).toContain("EARLY");
  stdin.write("\x1d");
  expect(await ended).toBe("");
});

test("says so if the guest ends, or if there is no console", async () => {
  const { press, shown, ended } = await opened("demo");
  await expect.poll(shown).toBe("login: ");
  press("exit");
  expect(await ended).toBe("the console was closed");
  const refused = await opened("other");
  expect(await refused.ended).toMatch(/^the console could not be opened: .*401/);
});

test("ends when the whole view is interrupted", async () => {
  const interrupt = new AbortController();
  const { shown, ended } = await opened("demo", interrupt.signal);
  await expect.poll(shown).toBe("login: ");
  interrupt.abort();
  expect(await ended).toBe("the console was closed");
});
