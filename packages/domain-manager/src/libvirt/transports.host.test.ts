import { createServer } from "node:net";
import { type Libvirtd, runProgram, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { connectLibvirt } from "./libvirt.ts";

let daemon: Libvirtd;
let pki: string;
let ports: [tcp: number, tls: number];

beforeAll(async () => {
  pki = (await runProgram("mktemp", ["-d", "/tmp/virtkit-pki-XXXXXX"])).trim();
  await runProgram("bash", ["-euc", certificates], { cwd: pki });
  ports = [await freePort(), await freePort()];
  daemon = await startLibvirtd({
    network: "host",
    tcpPort: ports[0],
    tls: {
      port: ports[1],
      ca: `${pki}/cacert.pem`,
      certificate: `${pki}/servercert.pem`,
      key: `${pki}/serverkey.pem`,
    },
  });
});

afterAll(async () => {
  await daemon?.[Symbol.asyncDispose]();
  await runProgram("rm", ["-rf", pki]);
});

/** A CA, certificates of the server and of a client, and a client of an unknown CA. */
const certificates = `
  chmod 755 .
  ca() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" -keyout $1.key -out $1.pem 2>/dev/null; }
  issue() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" -keyout $2key.pem -out r.csr 2>/dev/null
    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\\nkeyUsage=digitalSignature\\nextendedKeyUsage=serverAuth,clientAuth\\n' > ext
    openssl x509 -req -in r.csr -CA $1.pem -CAkey $1.key -CAcreateserial -days 2 -extfile ext -out $2cert.pem 2>/dev/null
  }
  ca cacert; issue cacert server; issue cacert client
  ca stranger; mkdir other; issue stranger client2
  cp cacert.pem other/; cp client2cert.pem other/clientcert.pem; cp client2key.pem other/clientkey.pem
  chmod 644 *.pem`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

test("the test driver is the same by unix socket, TCP and TLS", async () => {
  const uris = [
    `test+unix:///default?socket=${daemon.socket}`,
    `test+tcp://127.0.0.1:${ports[0]}/default`,
    `test+tls://localhost:${ports[1]}/default?pkipath=${pki}`,
  ];
  for (const uri of uris) {
    const libvirt = await connectLibvirt({ uri });
    onTestFinished(() => libvirt.close());
    const { domains } = await libvirt.call("connectListAllDomains", { needResults: true });
    expect(domains).toEqual([
      { name: "test", uuid: "6695eb01-f6a4-8304-79aa-97f2502e193f", id: 1 },
    ]);
    const { capabilities } = await libvirt.call("connectGetCapabilities");
    expect(capabilities).toBe(
      await runProgram("virsh", ["-q", "-c", uri, "capabilities"]).then((text) =>
        text.replace(/\n\n$/, "\n"),
      ),
    );
  }
});

test("rejects a client of an unknown CA", async () => {
  const uri = `test+tls://localhost:${ports[1]}/default?pkipath=${pki}/other`;
  await expect(connectLibvirt({ uri })).rejects.toMatchObject({ name: "LibvirtError" });
});

test("does not speak to a daemon with the wrong identity", async () => {
  const uri = `test+tls://127.0.0.2:${ports[1]}/default?pkipath=${pki}`;
  await expect(connectLibvirt({ uri })).rejects.toMatchObject({ code: "LIBVIRT_CONNECT" });
});

test("reports why a daemon refuses what it cannot open", async () => {
  const uri = `test+unix:///nowhere?socket=${daemon.socket}`;
  await expect(connectLibvirt({ uri })).rejects.toMatchObject({
    code: "LIBVIRT_REMOTE",
    procedure: "connectOpen",
  });
});

test("a read-only connection can read but not change", async () => {
  const uri = `test+unix:///default?socket=${daemon.socket}`;
  const libvirt = await connectLibvirt({ uri, flags: ["readOnly"] });
  onTestFinished(() => libvirt.close());
  const { dom } = await libvirt.call("domainLookupByName", { name: "test" });
  await expect(libvirt.call("domainDestroy", { dom })).rejects.toMatchObject({
    remote: { codeName: "operationDenied" },
  });
});
