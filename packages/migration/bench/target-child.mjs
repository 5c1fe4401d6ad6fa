// The target of migrations, in its own process like a launcher: what the source writes to its disk does not delay it.
import { createServer } from "node:net";
import { decodeGrant, encodeGrant, freeGrant } from "@virtkit/api/grant";
import { connectLibvirt } from "@virtkit/domain-manager/libvirt";
import { ControlLink, serveTarget } from "@virtkit/migration/handover";
import { MigrationReceiver, ReceiveFile, targetGrant } from "@virtkit/migration/target";
import { FileGrantStore } from "@virtkit/node-agent/claims";

const [libvirt, resume] = await Promise.all(
  [1, 2].map(() => connectLibvirt({ uri: process.argv[2] ?? "" })),
);
if (!libvirt || !resume) throw new Error("no connection");

/** Milliseconds since 1970, comparable between processes of one host. */
const now = () => performance.timeOrigin + performance.now();

/** @param {any} asked */
async function receive({ domain, migration, listen, directory, grants, holder, serve }) {
  const codec = {
    encode: encodeGrant,
    decode: (/** @type {string} */ text) => decodeGrant(text, migration.vmiUID),
  };
  const receiver = new MigrationReceiver({
    ...{ libvirt, resume, domain, migration, listen },
    file: new ReceiveFile(directory, migration.migrationUID),
    grant: targetGrant(new FileGrantStore(grants, { codec, empty: freeGrant }), holder),
    source: { decision: async () => undefined },
    at: (seam) => void process.send?.({ seam, time: now() }),
  });
  const handler = serveTarget(receiver);
  const server = createServer((socket) => new ControlLink(socket, { handler }));
  await new Promise((resolve) => server.listen(serve, () => resolve(undefined)));
  process.send?.({ ready: true });
  const { target } = await receiver.outcome;
  server.close();
  process.send?.({ target });
}

process.on("message", (asked) => {
  receive(asked).catch((error) => process.send?.({ target: `failed: ${error}` }));
});
process.on("disconnect", () => process.exit(0));
process.send?.({ ready: true });
