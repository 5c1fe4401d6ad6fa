import { connectLibvirt } from "@virtkit/domain-manager/libvirt";
import { watchDomains } from "./watch-domains.mjs";

const uri = process.argv[2] ?? "qemu:///system";
const reconnect = { firstDelay: 100, lastDelay: 5_000 };
const libvirt = await connectLibvirt({ uri, reconnect });
process.once("SIGINT", () => void libvirt.close());
for await (const states of watchDomains(libvirt)) {
  const text = [...states].map(([name, state]) => `${name} ${state}`).join(", ");
  process.stdout.write(`${text || "no domains"}\n`);
}
