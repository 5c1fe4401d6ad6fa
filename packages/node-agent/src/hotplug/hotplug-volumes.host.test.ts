import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { clusterConfig } from "@virtkit/api/config";
import { stopNamespaceHelper } from "@virtkit/host-primitives/namespaces";
import { ProcessHandle } from "@virtkit/host-primitives/process";
import { createPod, type PodFixture } from "@virtkit/lab";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { hasExited } from "../sandbox/process-identity.ts";
import { openSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import {
  type AttachmentFixture,
  startAttachment,
  volumeSize,
} from "../testing/attachment-fixture.ts";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { type AttachmentRoot, openAttachment } from "./attached-volume.ts";
import type { PlugKind, WantedPlug } from "./hotplug-plan.ts";
import { HotplugVolumes, unplugAll } from "./hotplug-volumes.ts";

const folder = "/run/kubevirt/hotplug-disks";
const subject = { vmi: sampleVmi(), config: clusterConfig() };

let pod: PodFixture;
let before: string;
let attachment: AttachmentFixture;
let root: AttachmentRoot;
let sandbox: Sandbox & Disposable;
let volumes: HotplugVolumes;

beforeAll(async () => {
  pod = await createPod();
  pod.run(`mkdir ${folder}`);
  attachment = await startAttachment(join(pod.directory, "volumes"));
  using process = ProcessHandle.open(attachment.pid);
  root = openAttachment(process);
  sandbox = openSandbox({ podUid: pod.podUid, pid: pod.pid });
  before = pod.state();
});

afterAll(async () => {
  root?.[Symbol.dispose]();
  sandbox?.[Symbol.dispose]();
  await attachment?.end();
  await pod?.[Symbol.asyncDispose]();
  attachment?.detach();
  await stopNamespaceHelper();
});

beforeEach(() => {
  volumes = new HotplugVolumes(sandbox, pod);
});

afterEach(async () => {
  await unplugAll(pod.podUid, sandbox, pod);
  expect(pod.state()).toBe(before);
  expect(readdirSync(join(pod.stateDirectory, "pods"))).toEqual([]);
});

function wanted(volume: string, kind: PlugKind): Omit<WantedPlug, "attachment"> {
  return { volume, kind, target: `${folder}/${volume}${kind === "image" ? ".img" : ""}` };
}

test("mounts an image for the launcher's user and a directory with its files, and creates a device node for a device", async () => {
  await volumes.plug(wanted("files", "image"), root, subject);
  await volumes.plug(wanted("device", "device"), root, subject);
  await volumes.plug(wanted("empty", "directory"), root, subject);
  const { major, minor } = attachment.device;
  expect(pod.run(`stat -c "%s %u" ${folder}/files.img`).trim()).toBe(`${volumeSize} 107`);
  expect(pod.run(`stat -c "%F %u %t %T" ${folder}/device`).trim()).toBe(
    `block special file 107 ${major.toString(16)} ${minor.toString(16)}`,
  );
  pod.run(`touch ${folder}/empty/dump && rm ${folder}/empty/dump`);
  expect(volumes.plugged()).toEqual(["files", "device", "empty"]);
  // A second time it is there already.
  await volumes.plug(wanted("files", "image"), root, subject);
  await volumes.unplug("files", subject);
  expect(pod.run(`ls ${folder}`).split("\n").filter(Boolean)).toEqual(["device", "empty"]);
});

test.each([
  ["a volume without an image", "empty", "image", "AGENT_VOLUME_MISSING"],
  ["a directory that is not a mount", "bare", "image", "AGENT_VOLUME_MISSING"],
  ["a volume that does not exist", "none", "image", "AGENT_VOLUME_MISSING"],
  ["a device that does not exist", "files", "device", "AGENT_VOLUME_MISSING"],
  ["an image that is a link to a file on the host", "evil", "image", "HOST_PATH_UNSAFE"],
  ["an image that is a fifo", "pipe", "image", "HOST_PATH_UNSAFE"],
  ["two devices for one volume", "crowd", "device", "AGENT_SANDBOX"],
] as const)("rejected: %s", async (_, volume, kind, code) => {
  await expect(volumes.plug(wanted(volume, kind), root, subject)).rejects.toMatchObject({ code });
  expect(volumes.plugged()).toEqual([]);
});

test("control: following the path of that image reads the host's file", () => {
  const image = `/proc/${attachment.pid}/root/evil/disk.img`;
  expect(readFileSync(image, "utf8")).toBe(readFileSync("/etc/shadow", "utf8"));
});

test("a launcher that puts something in the volume's place harms only itself", async () => {
  pod.run(`ln -s /etc/hostname ${folder}/files.img; touch ${folder}/device`);
  await expect(volumes.plug(wanted("files", "image"), root, subject)).rejects.toThrow();
  await expect(volumes.plug(wanted("device", "device"), root, subject)).rejects.toThrow();
  expect(volumes.plugged()).toEqual([]);
  pod.run(`rm ${folder}/files.img ${folder}/device`);
});

test.each(["begun", "plugged", "unplugging", "unplugged"] as const)(
  "an agent that dies when a volume is %s is followed by one that continues",
  async (mark) => {
    const dies = new HotplugVolumes(sandbox, {
      ...pod,
      onProgress: (reached) => {
        if (reached === mark) throw new Error("killed");
      },
    });
    const plugAndOut = async (): Promise<void> => {
      for (const [volume, kind] of [
        ["files", "image"],
        ["device", "device"],
      ] as const) {
        await dies.plug(wanted(volume, kind), root, subject);
        await dies.unplug(volume, subject);
      }
    };
    await expect(plugAndOut()).rejects.toThrow("killed");
    await volumes.plug(wanted("files", "image"), root, subject);
    await volumes.plug(wanted("device", "device"), root, subject);
    expect(volumes.plugged().toSorted()).toEqual(["device", "files"]);
    expect(pod.run(`stat -c %s ${folder}/files.img`).trim()).toBe(String(volumeSize));
  },
);

test("what is in a running sandbox is not forgotten by somebody who does not have it", async () => {
  await volumes.plug(wanted("files", "image"), root, subject);
  await expect(unplugAll(pod.podUid, undefined, pod)).rejects.toMatchObject({
    code: "AGENT_SANDBOX",
  });
  expect(volumes.plugged()).toEqual(["files"]);
});

test("nothing is removed from a launcher that has ended, and no record is left", async () => {
  const own = await createPod();
  own.run(`mkdir ${folder}`);
  const launcher = openSandbox({ podUid: own.podUid, pid: own.pid });
  try {
    await new HotplugVolumes(launcher, own).plug(wanted("files", "image"), root, subject);
    await own.kill();
    await expect.poll(() => hasExited(launcher.process)).toBe(true);
    await unplugAll(own.podUid, launcher, own);
    expect(readdirSync(join(own.stateDirectory, "pods"))).toEqual([]);
  } finally {
    launcher[Symbol.dispose]();
    await own[Symbol.asyncDispose]();
  }
});
