import { clusterConfig } from "@virtkit/api/config";
import { connectLibvirt } from "@virtkit/domain-manager/libvirt";
import { hypervFeatures } from "@virtkit/host-primitives/kvm";
import { runProgram, startLibvirtd } from "@virtkit/lab";
import { expect, test } from "vitest";
import { readCapabilities } from "./node-capabilities.ts";
import { nodeLabelsFor } from "./node-labels.ts";
import { queryCapabilities } from "./query-capabilities.ts";

const names = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = ""]) => name).sort();

test("a real libvirt's capabilities become labels that match its command line", async () => {
  await using daemon = await startLibvirtd();
  await using libvirt = await connectLibvirt({ uri: daemon.uri });
  const place = { architecture: "amd64", virtType: "qemu" };
  const documents = await queryCapabilities(libvirt, place);
  const capabilities = readCapabilities(documents, "amd64");
  const facts = { architecture: "amd64", realtime: false, hyperv: hypervFeatures() };
  const labels = Object.keys(nodeLabelsFor(capabilities, facts, clusterConfig()));
  const virsh = async (...args: string[]): Promise<string> =>
    await runProgram("virsh", ["-c", daemon.uri, ...args]);
  // What KubeVirt's set-up of a node asks, by the same commands.
  const machine = ["--machine", "q35", "--arch", "x86_64", "--virttype", "qemu"];
  const domain = await virsh("domcapabilities", ...machine);
  const usable = names(domain, /<model usable=['"]yes['"][^>]*>([^<]+)</g);
  const obsolete =
    /^(486|pentium|coreduo|n270|core2duo|Conroe|athlon|phenom|qemu|kvm|Opteron_G[12])/;
  const models = labels.flatMap((label) => label.split("cpu-model.node.kubevirt.io/")[1] ?? []);
  expect(models.sort()).toEqual(usable.filter((model) => !obsolete.test(model)));
  expect(models.length).toBeGreaterThan(0);
  const machines = new Set(names(await virsh("capabilities"), /<machine [^>]*>([^<]+)</g));
  const labelled = labels.flatMap(
    (label) => label.split("machine-type.node.kubevirt.io/")[1] ?? [],
  );
  expect(labelled.sort()).toEqual([...machines].sort());
  expect(labelled).toContain("q35");
  expect(capabilities.features.length).toBeGreaterThan(10);
  expect(labels).toContain(`host-model-cpu.node.kubevirt.io/${capabilities.hostModel?.name}`);
});
