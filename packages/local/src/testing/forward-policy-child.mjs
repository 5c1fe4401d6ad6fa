/**
 * Plays a host, in its own network namespace, whose iptables drop forwarded packets: creates a Pod's
 * network, sends requests from it, and prints the results as JSON. Runs the built packages.
 */
import { execFileSync } from "node:child_process";
import { createLocalNetwork, removeLocalNetwork } from "../../dist/local-network.js";

const [outside = "", podNamespace = "", port = ""] = process.argv.slice(2);
const names = { networkNamespace: podNamespace, hostLink: "vkpolicy0", nftTable: "virtkit_policy" };
const network = { hostAddress: "10.87.9.1", podAddress: "10.87.9.2" };
/** @param {string} line */
const run = (line) => execFileSync("sh", ["-c", line], { encoding: "utf8" });
const isReached = () => {
  try {
    run(`ip netns exec ${podNamespace} timeout 3 bash -c ': < /dev/tcp/198.51.100.2/${port}'`);
    return true;
  } catch {
    return false;
  }
};

run(`mount -t sysfs sysfs /sys
ip link set lo up
ip link add up0 type veth peer name eth0 netns ${outside}
ip addr add 198.51.100.1/24 dev up0
ip link set up0 up
echo 1 > /proc/sys/net/ipv4/conf/up0/forwarding
ip route add default via 198.51.100.2
ip -n ${outside} addr add 198.51.100.2/24 dev eth0
ip -n ${outside} link set eth0 up
iptables -P FORWARD DROP`);
const before = run("iptables -S");
await createLocalNetwork(names, network, "isolated");
const reached = isReached();
const rules = run("iptables -S FORWARD");
// The control: the policy alone.
run("iptables -F FORWARD");
const withoutRules = isReached();
await removeLocalNetwork(names);
await createLocalNetwork(names, network, "isolated");
await removeLocalNetwork(names);
const after = run("iptables -S");
const tables = run("nft list tables");
const isAsBefore = before === after;
process.stdout.write(JSON.stringify({ reached, rules, withoutRules, isAsBefore, tables }));
