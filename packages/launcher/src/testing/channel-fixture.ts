import { onTestFinished } from "vitest";
import { type ServeOptions, serveConnection } from "../channel/serve-connection.ts";
import { type ConnectLauncherOptions, connectLauncher } from "../client/connect-launcher.ts";
import type { LauncherClient } from "../client/launcher-client.ts";
import { connectedPair } from "./connected-pair.ts";
import { MemoryGuest } from "./memory-guest.ts";

export const info = {
  versions: [1],
  software: "test",
  vmi: { name: "demo", namespace: "default", uid: "vmi-1" },
  verbs: ["ping"],
  servedNetworks: [],
};

/** A client that ends with the test. */
export async function connectForTest(options: ConnectLauncherOptions): Promise<LauncherClient> {
  const client = await connectLauncher(options);
  onTestFinished(async () => await client.close());
  return client;
}

/** A guest in memory, served on a real socket, and a client of it. */
export async function servedGuest(
  options: Partial<ServeOptions> = {},
): Promise<{ readonly guest: MemoryGuest; readonly client: LauncherClient }> {
  const guest = new MemoryGuest();
  const { client: near, server: far } = await connectedPair();
  const served = serveConnection(far, { control: guest, info: () => info, ...options });
  const client = await connectLauncher({ dial: async () => near });
  onTestFinished(async () => {
    await client.close();
    await served.ended;
  });
  return { guest, client };
}
