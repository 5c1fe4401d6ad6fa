import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type Libvirtd, runProgram, startLibvirtd } from "@virtkit/lab";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createImage, inGuest, startGuest, untilAgent } from "../testing/guest-fixture.ts";
import { recordingDial } from "../testing/recording-dial.ts";
import type { DomainRef } from "./event-hub.ts";
import { connectLibvirt, type Libvirt } from "./libvirt.ts";
import { stateReason } from "./protocol/enums.ts";
import { migrationProcedures } from "./protocol/migration-procedures.ts";
import { type ProcedureName, procedures } from "./protocol/procedures.ts";

let daemon: Libvirtd;
let libvirt: Libvirt;
let dom: DomainRef;
const called = new Set<ProcedureName>(["authList", "connectOpen"]);

beforeAll(async () => {
  daemon = await startLibvirtd();
  const client = await connectLibvirt({ uri: daemon.uri, dial: recordingDial });
  const call = client.call.bind(client);
  client.call = (name, ...rest) => {
    called.add(name);
    return call(name, ...rest);
  };
  libvirt = client;
  const data = await createImage(daemon, "data.img", "ext4", "16M");
  const empty = await createImage(daemon, "empty.qcow2", "qcow2", "8M");
  dom = await startGuest(daemon, libvirt, "vm1", {
    cmdline: "hb=none",
    devices: `
      <disk type='file' device='disk'>
        <driver name='qemu' type='raw'/><source file='${data}'/><target dev='vda' bus='virtio'/>
      </disk>
      <disk type='file' device='disk'>
        <driver name='qemu' type='qcow2'/><source file='${empty}'/><target dev='vdb' bus='virtio'/>
      </disk>
      <interface type='user'><mac address='52:54:00:00:00:01'/><model type='virtio'/></interface>
      <input type='keyboard' bus='virtio'/>
      <graphics type='vnc'><listen type='socket' socket='${daemon.directory}/vnc.sock'/></graphics>
      <video><model type='vga'/></video>`,
  });
});

afterAll(async () => {
  await libvirt?.close();
  await daemon?.[Symbol.asyncDispose]();
});

/** The values of `name: value` lines of virsh, by name. */
function table(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/^\s*([^:\n]+?)\s*:\s+(.*)$/gm)];
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value.trim()]));
}

/** The values of `name value` lines of virsh, by name. */
function pairs(text: string): Record<string, string> {
  return Object.fromEntries(text.split("\n").map((line) => line.trim().split(/\s+/).slice(-2)));
}

/** Writes a file that virsh and the daemon may read. */
async function file(name: string, content: string): Promise<string> {
  const path = `${daemon.directory}/${name}`;
  await writeFile(path, content, { mode: 0o644 });
  return path;
}

describe("connection and node", () => {
  test("versions, names and limits agree with virsh", async () => {
    const version = async (name: "connectGetVersion" | "connectGetLibVersion"): Promise<string> => {
      const number = (await libvirt.call(name)).version;
      return `${number / 1_000_000n}.${(number / 1000n) % 1000n}.${number % 1000n}`;
    };
    const told = table(await daemon.virsh("version", "--daemon"));
    expect(`QEMU ${await version("connectGetVersion")}`).toBe(told["Running hypervisor"]);
    expect(await version("connectGetLibVersion")).toBe(told["Running against daemon"]);
    expect((await libvirt.call("connectGetType")).type).toBe("QEMU");
    const { hostname } = await libvirt.call("connectGetHostname");
    expect(hostname).toBe(await daemon.virsh("hostname"));
    expect((await libvirt.call("connectGetUri")).uri).toBe("qemu:///session");
    // virsh has no plain form of this call; the C library behind Python does.
    const program = "import libvirt, sys; print(libvirt.open(sys.argv[1]).getMaxVcpus('qemu'))";
    const { maxVcpus } = await libvirt.call("connectGetMaxVcpus", { type: "qemu" });
    expect(`${maxVcpus}\n`).toBe(await runProgram("/usr/bin/python3", ["-c", program, daemon.uri]));
    // VIR_DRV_FEATURE_PROGRAM_KEEPALIVE is 10; it is not asked on a connection in use.
    const second = await connectLibvirt({ uri: daemon.uri });
    expect((await second.call("connectSupportsFeature", { feature: 10 })).supported).toBe(true);
    await second.close();
    called.add("connectSupportsFeature").add("connectClose");
  });

  test("capabilities agree with virsh, byte for byte", async () => {
    const { capabilities } = await libvirt.call("connectGetCapabilities");
    expect(capabilities.trimEnd()).toBe(await daemon.virsh("capabilities"));
    const ofDomain = await libvirt.call("connectGetDomainCapabilities", {
      virtType: "qemu",
      arch: "x86_64",
      machine: "q35",
    });
    expect(ofDomain.capabilities.trimEnd()).toBe(
      await daemon.virsh("domcapabilities", "qemu", "--arch", "x86_64", "--machine", "q35"),
    );
  });

  test("CPU models, comparison and baseline agree with virsh", async () => {
    const arch = "x86_64";
    const { models } = await libvirt.call("connectGetCpuModelNames", { arch, needResults: true });
    expect(models.join("\n")).toBe(await daemon.virsh("cpu-models", arch));
    const cpus = ["Nehalem", "Westmere"].map(
      (model) => `<cpu mode='custom' match='exact'><model>${model}</model></cpu>`,
    );
    const one = await file("cpu1.xml", cpus[0] ?? "");
    const both = await file("cpus.xml", cpus.join("\n"));
    const qemu = { virtType: "qemu", arch };
    const compared = await libvirt.call("connectCompareHypervisorCpu", {
      ...qemu,
      cpu: cpus[0] ?? "",
    });
    const told = await daemon.virsh("hypervisor-cpu-compare", one, "--virttype", "qemu");
    expect(told).toContain(`is ${compared.result === "superset" ? "a superset" : compared.result}`);
    const { cpu } = await libvirt.call("connectBaselineHypervisorCpu", { ...qemu, cpus });
    expect(cpu.trimEnd()).toBe(
      await daemon.virsh("hypervisor-cpu-baseline", both, "--virttype", "qemu"),
    );
    const hosts = ["Nehalem", "Westmere"].map(
      (model) => `<cpu><arch>x86_64</arch><model>${model}</model></cpu>`,
    );
    const baseline = await libvirt.call("connectBaselineCpu", { cpus: hosts });
    const hostFile = await file("host-cpus.xml", hosts.join("\n"));
    expect(baseline.cpu.trimEnd()).toBe(await daemon.virsh("cpu-baseline", hostFile));
    const { result } = await libvirt.call("connectCompareCpu", { xml: cpus[0] ?? "" });
    expect(await daemon.virsh("cpu-compare", one).catch(String)).toContain(result);
  });

  test("node info, devices and free memory agree with virsh", async () => {
    const info = await libvirt.call("nodeGetInfo");
    expect(table(await daemon.virsh("nodeinfo"))).toMatchObject({
      "CPU model": info.model,
      "CPU(s)": String(info.cpus),
      "NUMA cell(s)": String(info.nodes),
      "Memory size": `${info.memory} KiB`,
    });
    const { bytes } = await libvirt.call("nodeGetFreeMemory");
    expect(bytes).toBeGreaterThan(0n);
    expect(bytes).toBeLessThan(info.memory * 1024n);
    const { devices, count } = await libvirt.call("connectListAllNodeDevices", {
      needResults: true,
    });
    const names = devices.map((device) => device.name).sort();
    expect(names.join("\n")).toBe(
      (await daemon.virsh("nodedev-list")).split("\n").sort().join("\n"),
    );
    expect(count).toBe(devices.length);
    const name = "computer";
    const { device } = await libvirt.call("nodeDeviceLookupByName", { name });
    const { xml } = await libvirt.call("nodeDeviceGetXmlDesc", device);
    expect(xml.trimEnd()).toBe(await daemon.virsh("nodedev-dumpxml", name));
  });

  test("virsh sees how secrets are kept, found, read and removed", async () => {
    const { secret } = await libvirt.call("secretDefineXml", {
      xml: "<secret ephemeral='no' private='no'><usage type='ceph'><name>key 1</name></usage></secret>",
    });
    expect(secret).toMatchObject({ usageType: "ceph", usageId: "key 1" });
    const value = Buffer.from([0, 1, 2, 255]);
    await libvirt.call("secretSetValue", { secret, value });
    expect((await libvirt.call("secretGetValue", { secret })).value).toEqual(value);
    expect(await daemon.virsh("secret-get-value", secret.uuid)).toBe(value.toString("base64"));
    const { uuid } = secret;
    expect(await libvirt.call("secretLookupByUuid", { uuid })).toEqual({ secret });
    const usage = { usageType: "ceph", usageId: "key 1" } as const;
    expect(await libvirt.call("secretLookupByUsage", usage)).toEqual({ secret });
    const { xml } = await libvirt.call("secretGetXmlDesc", { secret });
    expect(xml.trimEnd()).toBe(await daemon.virsh("secret-dumpxml", uuid));
    const { secrets } = await libvirt.call("connectListAllSecrets", { needResults: true });
    expect(secrets).toEqual([secret]);
    await libvirt.call("secretUndefine", { secret });
    expect(await daemon.virsh("secret-list")).toBe("");
  });
});

describe("domain", () => {
  test("lookups agree, and a failed one has libvirt's error", async () => {
    const { name, uuid, id } = dom;
    expect(await libvirt.call("domainLookupByName", { name })).toEqual({ dom });
    expect(await libvirt.call("domainLookupByUuid", { uuid })).toEqual({ dom });
    expect(await libvirt.call("domainLookupById", { id })).toEqual({ dom });
    expect(String(id)).toBe(await daemon.virsh("domid", name));
    expect(uuid).toBe(await daemon.virsh("domuuid", name));
    const all = await libvirt.call("connectListAllDomains", {
      needResults: true,
      flags: ["active"],
    });
    expect(all).toEqual({ domains: [dom], count: 1 });
    await expect(libvirt.call("domainLookupByName", { name: "nobody" })).rejects.toMatchObject({
      procedure: "domainLookupByName",
      remote: { code: 42, codeName: "noDomain", domain: 10, domainName: "qemu", level: 2 },
    });
  });

  test("XML, info, state and persistence agree with virsh", async () => {
    const { xml } = await libvirt.call("domainGetXmlDesc", { dom });
    expect(xml.trimEnd()).toBe(await daemon.virsh("dumpxml", "vm1"));
    const inactive = await libvirt.call("domainGetXmlDesc", { dom, flags: ["inactive", "secure"] });
    expect(inactive.xml.trimEnd()).toBe(
      await daemon.virsh("dumpxml", "vm1", "--inactive", "--security-info"),
    );
    const info = await libvirt.call("domainGetInfo", { dom });
    expect(table(await daemon.virsh("dominfo", "vm1"))).toMatchObject({
      State: info.state,
      "CPU(s)": String(info.vcpus),
      "Max memory": `${info.maxMemory} KiB`,
      "Used memory": `${info.memory} KiB`,
    });
    const { memory } = await libvirt.call("domainGetMaxMemory", { dom });
    expect(memory).toBe(info.maxMemory);
    const { state, reason } = await libvirt.call("domainGetState", { dom });
    expect(await daemon.virsh("domstate", "vm1", "--reason")).toBe(
      `${state} (${stateReason(state, reason)})`,
    );
    expect(await libvirt.call("domainIsPersistent", { dom })).toEqual({ persistent: true });
  });

  test("suspend and resume change the state that virsh sees", async () => {
    await libvirt.call("domainSuspend", { dom });
    expect(await daemon.virsh("domstate", "vm1", "--reason")).toBe("paused (user)");
    await libvirt.call("domainResume", { dom });
    expect(await daemon.virsh("domstate", "vm1", "--reason")).toBe("running (unpaused)");
  });

  test("writes and reads metadata", async () => {
    const uri = "http://example.org/virtkit";
    const element = { dom, type: "element", uri } as const;
    await libvirt.call("domainSetMetadata", {
      ...element,
      metadata: "<a b='1'/>",
      key: "v",
      flags: ["live", "config"],
    });
    const { metadata } = await libvirt.call("domainGetMetadata", element);
    expect(metadata.trimEnd()).toBe(await daemon.virsh("metadata", "vm1", uri));
    await libvirt.call("domainSetMetadata", { dom, type: "description", metadata: "text" });
    expect(await daemon.virsh("desc", "vm1")).toBe("text");
    await libvirt.call("domainSetMetadata", { ...element, metadata: undefined });
    await expect(libvirt.call("domainGetMetadata", element)).rejects.toMatchObject({
      remote: { codeName: "noDomainMetadata" },
    });
  });

  test("plugs in, changes and removes devices", async () => {
    const path = await createImage(daemon, "extra.img", "raw", "4M");
    const disk = (serial: string): string => `<disk type='file' device='disk'>
      <driver name='qemu' type='raw' ${serial}/><source file='${path}'/>
      <target dev='vdx' bus='virtio'/><alias name='ua-extra'/></disk>`;
    await libvirt.call("domainAttachDevice", { dom, xml: disk(""), flags: ["live"] });
    expect(await daemon.virsh("domblklist", "vm1")).toContain("vdx");
    await libvirt.call("domainDetachDeviceAlias", { dom, alias: "ua-extra", flags: ["live"] });
    await gone("domblklist", "vdx");
    const nic = (state: string): string => `<interface type='user'>
      <mac address='52:54:00:00:00:02'/><model type='virtio'/><link state='${state}'/></interface>`;
    await libvirt.call("domainAttachDevice", { dom, xml: nic("up") });
    await libvirt.call("domainUpdateDevice", { dom, xml: nic("down"), flags: ["live"] });
    expect(await daemon.virsh("domif-getlink", "vm1", "52:54:00:00:00:02")).toContain("down");
    await libvirt.call("domainDetachDevice", { dom, xml: nic("down"), flags: ["live"] });
    await gone("domiflist", "52:54:00:00:00:02");
  });

  async function gone(command: string, text: string): Promise<void> {
    while ((await daemon.virsh(command, "vm1")).includes(text)) await sleep(50);
  }

  test("changes vCPUs and memory", async () => {
    await libvirt.call("domainSetVcpus", { dom, count: 2, flags: ["live"] });
    const flags = ["live"] as const;
    expect((await libvirt.call("domainGetVcpusFlags", { dom, flags })).count).toBe(2);
    expect(await daemon.virsh("vcpucount", "vm1", "--live", "--active")).toBe("2");
    const { info, cpuMaps } = await libvirt.call("domainGetVcpus", {
      dom,
      maxInfo: 2,
      mapLength: 1,
    });
    expect(info.map(({ number, state }) => [number, state])).toEqual([
      [0, "running"],
      [1, "running"],
    ]);
    expect(cpuMaps).toHaveLength(2);
    await libvirt.call("domainPinVcpu", { dom, vcpu: 0, cpuMap: Uint8Array.of(1), flags });
    await libvirt.call("domainPinEmulator", { dom, cpuMap: Uint8Array.of(1), flags });
    expect(pairs(await daemon.virsh("vcpupin", "vm1", "0", "--live"))["0"]).toBe("0");
    expect(await daemon.virsh("dumpxml", "vm1")).toContain("<emulatorpin cpuset='0'/>");
    await libvirt.call("domainSetMemory", { dom, memory: 120 * 1024, flags: ["live"] });
    while ((await libvirt.call("domainGetInfo", { dom })).memory !== 122880n) await sleep(50);
    expect(table(await daemon.virsh("dominfo", "vm1"))["Used memory"]).toBe("122880 KiB");
    await libvirt.call("domainSetMemory", { dom, memory: 128 * 1024, flags: ["live"] });
    await libvirt.call("domainSetMemoryStatsPeriod", { dom, period: 2, flags: ["live"] });
    expect(await daemon.virsh("dumpxml", "vm1")).toContain("<stats period='2'/>");
    const { stats } = await libvirt.call("domainMemoryStats", { dom, maxStats: 16 });
    const told = pairs(await daemon.virsh("dommemstat", "vm1"));
    const available = stats.find(({ tag }) => tag === "available")?.value;
    expect(String(available)).toBe(told["available"]);
  });

  test("statistics of all domains agree with domstats", async () => {
    const { records } = await libvirt.call("connectGetAllDomainStats", {
      domains: [dom],
      stats: ["state", "balloon", "interface", "block", "vcpu"],
    });
    const told = (await daemon.virsh("domstats", "vm1", "--state", "--balloon", "--interface"))
      .split("\n")
      .flatMap((line) => (/^\s+(\S+?)=(.*)$/.exec(line)?.slice(1) ? [line.trim().split("=")] : []));
    const [record] = records;
    expect(record?.dom).toMatchObject({ name: "vm1" });
    // Values that change between two questions are compared by name, others also by value.
    for (const [name = "", value = ""] of told) {
      expect(Object.keys(record?.params ?? {})).toContain(name);
      if (/^(state|balloon\.maximum|net\.(count|0\.name))/.test(name)) {
        expect(String(record?.params[name])).toBe(value);
      }
    }
    expect(record?.params["balloon.maximum"]).toBe(131072n);
    expect(record?.params["block.0.name"]).toBe("vda");
  });

  test("counts interface statistics", async () => {
    const nic = /<target dev='([^']+)'/.exec(await daemon.virsh("dumpxml", "vm1"))?.[1] ?? "";
    const ask = libvirt.call("domainInterfaceStats", { dom, device: "52:54:00:00:00:01" });
    const ours = await ask.catch((error) => error.remote.message);
    const theirs = await daemon.virsh("domifstat", "vm1", "52:54:00:00:00:01").catch(String);
    expect(theirs, nic).toContain(typeof ours === "string" ? ours : String(ours.rxBytes));
  });

  test("keys reach the guest", async () => {
    const keys = { dom, codeset: "linux", holdTime: 10, keycodes: [29, 30] } as const;
    await inGuest(libvirt, dom, "for e in /dev/input/event*; do cat $e >> /tmp/keys 2>&1 & done");
    // Two keys go down and up again, each followed by a mark, 24 bytes each. They are sent again: at first nobody may listen yet.
    while (Number(await inGuest(libvirt, dom, "cat /tmp/keys | wc -c")) < 192) {
      await libvirt.call("domainSendKey", keys);
      await sleep(50);
    }
  });

  test("a screenshot comes as a picture", async () => {
    const { mime, stream } = await libvirt.screenshot({ dom, screen: 0 });
    called.add("domainScreenshot");
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(mime).toMatch(/^image\//);
    const picture = Buffer.concat(chunks);
    const path = `${daemon.directory}/shot`;
    await daemon.virsh("screenshot", "vm1", path);
    expect(picture.subarray(0, 4)).toEqual((await readFile(path)).subarray(0, 4));
    expect(picture.length).toBeGreaterThan(100);
  });

  test("writes and reads a console; a second client must insist", async () => {
    const console = await libvirt.openConsole({ dom });
    called.add("domainOpenConsole");
    await console.write("\necho virt$((6*7))kit\n");
    let text = "";
    for await (const chunk of console) {
      text += chunk.toString();
      if (text.includes("virt42kit")) break;
    }
    await expect(libvirt.openConsole({ dom })).rejects.toMatchObject({
      remote: { codeName: "operationFailed" },
    });
    const second = await libvirt.openConsole({ dom, flags: ["force"] });
    const rest = async (): Promise<void> => {
      for await (const chunk of console) text += chunk.toString();
    };
    await expect(rest()).rejects.toMatchObject({ name: "LibvirtError" });
    await second.write("\n");
    await second[Symbol.asyncDispose]();
  });

  test("dumps memory to a file", async () => {
    const to = `${daemon.directory}/core`;
    await libvirt.call("domainCoreDump", { dom, to, format: "raw", flags: ["memoryOnly"] });
    expect((await readFile(to)).subarray(0, 4).toString("latin1")).toBe("\x7fELF");
  });

  test("the monitor answers", async () => {
    const command = '{"execute":"query-name"}';
    const { result } = await libvirt.call("qemuMonitorCommand", { dom, command });
    const told = await daemon.virsh("qemu-monitor-command", "vm1", command);
    expect(JSON.parse(result).return).toEqual(JSON.parse(told).return);
  });
});

describe("disks", () => {
  test("size and statistics agree with virsh", async () => {
    const { capacity, physical } = await libvirt.call("domainGetBlockInfo", { dom, path: "vda" });
    expect(table(await daemon.virsh("domblkinfo", "vm1", "vda"))).toMatchObject({
      Capacity: String(capacity),
      Physical: String(physical),
    });
    const stats = await libvirt.call("domainBlockStats", { dom, path: "vda" });
    const { count } = await libvirt.call("domainBlockStatsFlags", {
      dom,
      path: "vda",
      maxParams: 0,
    });
    const { params } = await libvirt.call("domainBlockStatsFlags", {
      dom,
      path: "vda",
      maxParams: count,
    });
    expect(Object.keys(params)).toHaveLength(count);
    expect(pairs(await daemon.virsh("domblkstat", "vm1", "vda"))).toMatchObject({
      rd_bytes: String(stats.readBytes),
      rd_req: String(params["rd_operations"]),
    });
  });

  test("a disk grows", async () => {
    await libvirt.call("domainBlockResize", {
      dom,
      disk: "vdb",
      size: 12 * 2 ** 20,
      flags: ["bytes"],
    });
    expect(table(await daemon.virsh("domblkinfo", "vm1", "vdb"))["Capacity"]).toBe("12582912");
  });

  test("starts a copy, slows it down, watches it and aborts it", async () => {
    const file = await createImage(daemon, "copy.img", "raw", "16M");
    await libvirt.call("domainBlockCopy", {
      dom,
      path: "vda",
      destination: `<disk type='file'><source file='${file}'/><driver type='raw'/></disk>`,
      params: { bandwidth: 2 ** 20, granularity: 65536 },
      flags: ["reuseExternal", "transientJob"],
    });
    const job = await libvirt.call("domainGetBlockJobInfo", { dom, path: "vda" });
    expect(job).toMatchObject({ found: true, type: "copy", end: 16777216n });
    expect(await daemon.virsh("blockjob", "vm1", "vda", "--info")).toContain("1048576 bytes/s");
    await libvirt.call("domainBlockJobSetSpeed", { dom, path: "vda", bandwidth: 100 });
    await libvirt.call("domainBlockJobAbort", { dom, path: "vda" });
    expect(await libvirt.call("domainGetBlockJobInfo", { dom, path: "vda" })).toMatchObject({
      found: false,
    });
  });
});

describe("guest agent", () => {
  test("addresses, names, file systems and users agree with virsh", async () => {
    const { interfaces } = await libvirt.call("domainInterfaceAddresses", { dom, source: "agent" });
    const told = await daemon.virsh("domifaddr", "vm1", "--source", "agent");
    const nic = interfaces.find(({ hardwareAddress }) => hardwareAddress === "52:54:00:00:00:01");
    expect(nic?.addresses[0]).toMatchObject({ type: "ipv4", address: "10.0.2.15", prefix: 24 });
    expect(told).toContain("10.0.2.15/24");
    const { hostname } = await libvirt.call("domainGetHostname", { dom, flags: ["agent"] });
    expect(hostname).toBe(await daemon.virsh("domhostname", "vm1", "--source", "agent"));
    const { fileSystems, count } = await libvirt.call("domainGetFileSystems", { dom });
    expect(fileSystems).toEqual([
      { mountpoint: "/mnt/vda", name: "vda", type: "ext4", devices: ["vda"] },
    ]);
    expect(count).toBe(1);
    expect(await daemon.virsh("domfsinfo", "vm1")).toMatch(/\/mnt\/vda\s+vda\s+ext4\s+vda/);
    const { params } = await libvirt.call("domainGetGuestInfo", {
      dom,
      types: ["users", "os", "hostname", "filesystem"],
    });
    const info = table(await daemon.virsh("guestinfo", "vm1"));
    for (const name of ["user.count", "user.0.name", "os.kernel-release", "fs.0.fstype"]) {
      expect(String(params[name])).toBe(info[name]);
    }
    const vcpus = await libvirt.call("domainGetGuestVcpus", { dom });
    const toldVcpus = table(await daemon.virsh("guestvcpus", "vm1"));
    expect(vcpus.params["vcpus"]).toBe(toldVcpus["vcpus"]);
  });

  test("freezes and thaws file systems", async () => {
    const mountpoints: string[] = [];
    expect(await libvirt.call("domainFreeze", { dom, mountpoints })).toEqual({ fileSystems: 1 });
    await expect(libvirt.call("domainFreeze", { dom, mountpoints })).rejects.toMatchObject({
      code: "LIBVIRT_REMOTE",
    });
    expect(await libvirt.call("domainThaw", { dom, mountpoints })).toEqual({ fileSystems: 1 });
  });

  test("sets and reads the guest's clock", async () => {
    await libvirt.call("domainSetTime", { dom, seconds: 2_000_000_000, nanoseconds: 0 });
    const { seconds } = await libvirt.call("domainGetTime", { dom });
    expect(Number(seconds)).toBeGreaterThanOrEqual(2_000_000_000);
    expect(Number(seconds)).toBeLessThan(2_000_000_060);
    expect(Number(/\d+/.exec(await daemon.virsh("domtime", "vm1"))?.[0])).toBeLessThan(
      2_000_000_060,
    );
  });

  test("a missing answer is the caller's timeout", async () => {
    const command = '{"execute":"guest-exec","arguments":{"path":"/nowhere"}}';
    await expect(
      libvirt.call("qemuAgentCommand", { dom, command, timeout: 5 }),
    ).rejects.toMatchObject({ remote: { codeName: expect.stringMatching(/internalError|agent/) } });
  });
});

describe("the end of a domain", () => {
  test("jobs: none is in progress", async () => {
    expect(await libvirt.call("domainGetJobInfo", { dom })).toMatchObject({ type: "none" });
    expect((await libvirt.call("domainGetJobStats", { dom })).type).toBe("none");
    expect(await daemon.virsh("domjobinfo", "vm1")).toMatch(/^Job type:\s+None/);
  });

  test("reset and reboot restart the guest; shutdown and destroy end it", {
    timeout: 300_000,
  }, async () => {
    const boot = (): Promise<string> =>
      inGuest(libvirt, dom, "cat /proc/sys/kernel/random/boot_id");
    const first = await boot();
    await libvirt.call("domainReboot", { dom, flags: ["guestAgent"] });
    await libvirt.call("domainReset", { dom });
    await untilAgent(libvirt, dom);
    expect(await boot()).not.toBe(first);
    await libvirt.call("domainShutdown", { dom, flags: ["acpiPowerButton"] });
    while ((await daemon.virsh("domstate", "vm1")) !== "shut off") await sleep(100);
    const { state, reason } = await libvirt.call("domainGetState", { dom });
    expect([state, stateReason(state, reason)]).toEqual(["shutoff", "shutdown"]);
    await libvirt.call("domainUndefine", { dom, flags: ["nvram", "managedSave"] });
    expect(await daemon.virsh("list", "--all", "--name")).toBe("");
    const xml = await readFile(`${daemon.directory}/vm1.xml`, "utf8");
    const transient = await libvirt.call("domainCreateXml", { xml, flags: ["paused"] });
    expect(await daemon.virsh("domstate", "vm1")).toBe("paused");
    await libvirt.call("domainDestroy", { dom: transient.dom, flags: ["graceful"] });
    expect(await daemon.virsh("list", "--all", "--name")).toBe("");
  });

  test("every procedure has been called, except those of a migration", () => {
    called.add("eventRegister").add("eventDeregister"); // events.host.test.ts
    const elsewhere = ["authPolkit", ...Object.keys(migrationProcedures)];
    const missing = Object.keys(procedures).filter(
      (name) => !called.has(name as ProcedureName) && !elsewhere.includes(name),
    );
    expect(missing).toEqual([]);
    expect(existsSync(`${daemon.directory}/core`)).toBe(true);
  });
});
