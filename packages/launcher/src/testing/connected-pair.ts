import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Two ends of a unix stream, as a launcher and its agent have them. */
export async function connectedPair(): Promise<{
  readonly client: Socket;
  readonly server: Socket;
}> {
  const directory = mkdtempSync(join(tmpdir(), "virtkit-channel-"));
  const path = join(directory, "s");
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(path, resolve));
  const accepted = new Promise<Socket>((resolve) => listener.once("connection", resolve));
  const client = connect(path);
  const server = await accepted;
  listener.close();
  rmSync(directory, { recursive: true, force: true });
  return { client, server };
}
