import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { prepareVmi, resolveContext } from "@virtkit/converter";
import { MayRun } from "@virtkit/domain-manager";
import { createSandbox, guestCommandLine, guestImage } from "@virtkit/lab";
import { connectLauncher, launcherNodeFlags } from "@virtkit/launcher/client";

const repository = fileURLToPath(new URL("../../..", import.meta.url));
const vmiUid = "5d0c3a52-0003-4000-8000-000000000003";
const podUid = "pod";
const metadata = { name: "bench", namespace: "default", uid: vmiUid };

/** A sandbox as a kubelet would make it, in which launchers are started one after the other. */
export async function createPlace() {
  const directory = mkdtempSync(path.join(tmpdir(), "virtkit-bench-"));
  const run = path.join(directory, "run");
  const guest = path.dirname((await guestImage()).kernel);
  const boot = `${run}/kubevirt/container-disks/kernel-boot`;
  const capabilities = path.join(path.dirname(guest), "libvirt-capabilities");
  const sandbox = await createSandbox({
    hostname: "launcher",
    network: "own",
    setup: [
      `mkdir -p ${boot} ${run}/kubevirt-private ${run}/kubevirt-ephemeral-disks ${run}/libvirt`,
      `touch ${boot}/vmlinuz ${boot}/initrd`,
      `printf '127.0.0.1 localhost launcher\\n' > ${directory}/hosts`,
      `printf 'hosts: files\\npasswd: files\\n' > ${directory}/nsswitch.conf`,
      `printf 'qemu:x:107:107:qemu:/:/bin/false\\n' > ${directory}/passwd`,
      `chmod 755 ${directory}; chown -R 107:107 ${directory}`,
      ...["hosts", "nsswitch.conf", "passwd"].map(
        (file) => `mount --bind ${directory}/${file} /etc/${file}`,
      ),
      "mount -t tmpfs -o mode=755 bench /mnt",
      "mkdir /mnt/repository /mnt/capabilities; touch /mnt/node",
      `mount --bind ${repository} /mnt/repository`,
      `mount --bind ${process.execPath} /mnt/node`,
      `[ ! -d ${capabilities} ] || mount --bind ${capabilities} /mnt/capabilities`,
      ...["vmlinuz", "initrd"].map((file) => `mount --bind ${guest}/${file} ${boot}/${file}`),
      `mount --rbind ${run} /run`,
    ],
  });
  return {
    start: () => startLauncher(sandbox, run),
    close: async () => {
      await sandbox[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Starts a launcher; returns when it is ready.
 * @param {import("@virtkit/lab").Sandbox} sandbox
 * @param {string} run
 */
async function startLauncher(sandbox, run) {
  const line = ["--reuid", "107", "--regid", "107", "--clear-groups", "--no-new-privs"];
  line.push("/mnt/node", ...launcherNodeFlags);
  line.push("/mnt/repository/packages/launcher/bin/virtkit-launcher.js");
  for (const [name, value] of Object.entries(metadata)) line.push(`--${name}`, value);
  line.push("--pod-uid", podUid, "--grace-period-seconds", "0");
  line.push("--capabilities-cache", "/mnt/capabilities", "--termination-message", "/dev/null");
  const child = spawn(...sandbox.command("setpriv", line), { stdio: "ignore" });
  const socket = `${run}/kubevirt/sockets/launcher-sock`;
  while (!existsSync(socket)) {
    if (child.exitCode !== null) throw new Error("the launcher ended before it was ready");
    await sleep(1);
  }
  return {
    connect: () => connectLauncher({ path: socket }),
    memory: () => memoryOf(child.pid ?? 0),
    stop: async () => {
      const exited = once(child, "exit");
      await sandbox.run("pkill", ["-TERM", "-u", "107", "-f", "virtkit-launcher.js"]);
      await exited;
    },
  };
}

/** What a node agent would send for a guest that boots the lab's kernel. */
export function syncRequest() {
  const container = { kernelPath: "/vmlinuz", initrdPath: "/initrd", image: "lab" };
  const kernelArgs = `${guestCommandLine} hb=none`;
  const environment = {
    allowEmulation: true,
    hypervisorDeviceAvailable: false,
    emulatorBinaries: ["/usr/bin/qemu-system-x86_64"],
  };
  const vmi = prepareVmi(
    {
      apiVersion: "kubevirt.io/v1",
      kind: "VirtualMachineInstance",
      metadata,
      spec: {
        domain: {
          memory: { guest: "256Mi" },
          cpu: { cores: 1, model: "qemu64" },
          firmware: { uuid: vmiUid, kernelBoot: { container, kernelArgs } },
          devices: { autoattachPodInterface: false },
        },
      },
    },
    environment,
  );
  const mayRun = MayRun.fromAgent({ vmiUid, podUid, epoch: 1 });
  return { vmi, context: resolveContext(vmi, environment), mayRun };
}

/**
 * The memory of the launcher, which is a child of the program that entered the sandbox.
 * @param {number} pid
 */
function memoryOf(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  const status = readFileSync(`/proc/${children.split(" ")[0] || pid}/status`, "utf8");
  const mega = (/** @type {string} */ name) =>
    (Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024).toFixed(1);
  return `RSS ${mega("VmRSS")} MiB, RssAnon ${mega("RssAnon")} MiB`;
}
