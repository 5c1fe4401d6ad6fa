// A launcher's end of the channel in its own process, with nothing behind it.
import { createServer } from "node:net";
import { serveConnection } from "@virtkit/launcher/channel";

const info = () => ({
  versions: [1],
  software: "bench",
  vmi: { name: "", namespace: "", uid: "" },
  verbs: [],
  servedNetworks: [],
});
const control = /** @type {import("@virtkit/domain-manager").GuestControl} */ ({});
createServer((socket) => serveConnection(socket, { control, info, maxInFlight: 64 })).listen(
  process.argv[2],
  () => process.stdout.write("ready\n"),
);
