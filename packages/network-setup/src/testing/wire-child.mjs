// Wires a namespace and kills itself at one of the operations, as a power cut would:
// node wire-child.mjs NAMESPACE JOURNAL-DIRECTORY BINDING OPERATION
import { openNamespace } from "@virtkit/host-primitives/namespaces";
import { openJournal, openPodNetwork, wirePod } from "@virtkit/network-setup/apply";

const [path = "", directory = "", binding = "", last = "0"] = process.argv.slice(2);
const network = await openPodNetwork(openNamespace("network", path));
let calls = 0;
await wirePod(
  {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { name: "vm" },
    spec: {
      domain: { devices: { interfaces: [{ name: "default", [binding]: {} }] } },
      networks: [{ name: "default", pod: {} }],
    },
    status: { runtimeUser: 107, migrationTransport: "Unix" },
  },
  network,
  {
    journal: openJournal(directory, "killed"),
    primaryFamily: "ipv4",
    onOperation: () => {
      if (calls++ === Number(last)) process.kill(process.pid, "SIGKILL");
    },
  },
);
