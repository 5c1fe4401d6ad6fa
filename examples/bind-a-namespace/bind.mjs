// Usage: node bind.mjs [masquerade|bridge]
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createNetworkNamespace,
  deleteNetworkNamespace,
  stopNamespaceHelper,
} from "@virtkit/host-primitives/namespaces";
import {
  discover,
  openJournal,
  openPodNetwork,
  unwirePod,
  wirePod,
} from "@virtkit/network-setup/apply";
import { operationText } from "@virtkit/network-setup/plan";

const binding = process.argv[2] ?? "masquerade";
if (binding !== "masquerade" && binding !== "bridge") {
  process.stderr.write("usage: node bind.mjs [masquerade|bridge]\n");
  process.exit(2);
}

/** @type {Parameters<typeof wirePod>[0]} */
const vmi = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata: { name: "example" },
  spec: {
    domain: { devices: { interfaces: [{ name: "default", [binding]: {} }] } },
    networks: [{ name: "default", pod: {} }],
  },
  status: { runtimeUser: 107, migrationTransport: "Unix" },
};

const name = `vkbind${process.pid}`;
const directory = mkdtempSync(join(tmpdir(), "virtkit-bind-"));
const namespace = await createNetworkNamespace(name);
/** @param {string} command */
const inside = (command) =>
  execFileSync("nsenter", [`--net=/run/netns/${name}`, "sh", "-ec", command], { encoding: "utf8" });
/** @param {string} title @param {string | readonly string[]} text */
const print = (title, text) =>
  process.stdout.write(`${title}\n${[text].flat().join("\n").trimEnd()}\n\n`);

/** @type {import("@virtkit/network-setup/apply").PodNetwork | undefined} */
let network;
try {
  // What a CNI would do; the other end of the wire stays here, because there is no node.
  inside(`ip link set lo up
    ip link add eth0 mtu 1450 type veth peer name node0
    ip addr add 10.244.1.5/24 dev eth0
    ip link set node0 up; ip link set eth0 up
    ip route add default via 10.244.1.1`);
  network = await openPodNetwork(namespace);
  const journal = openJournal(directory, "example");
  const before = await discover(network);

  const [plan] = await wirePod(vmi, network, { journal });
  print(
    "plan",
    (plan?.steps ?? []).flatMap(({ operation }) => operationText(operation)),
  );
  print("guest", JSON.stringify(plan?.bindings, undefined, 2));
  print("result", inside("ip -br addr; nft list ruleset"));

  await unwirePod(network, { journal });
  print("after the undo", inside("ip -br addr; nft list ruleset"));
  const after = await discover(network);
  const same = JSON.stringify(after) === JSON.stringify(before);
  print("the namespace is as it was found", String(same));
  process.exitCode = same ? 0 : 1;
} finally {
  network?.[Symbol.dispose]();
  namespace.close();
  deleteNetworkNamespace(name);
  rmSync(directory, { recursive: true, force: true });
  await stopNamespaceHelper();
}
