import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { sealText } from "@virtkit/domain-manager/disks";
import { isoImage, qcow2Image, writeImage } from "@virtkit/domain-manager/disks/images";

const directory = mkdtempSync(path.join(tmpdir(), "virtkit-bench-"));
const source = path.join(directory, "source");
const base = path.join(directory, "base.img");
/** @type {Record<string, string>} */
const texts = {
  "openstack/latest/meta_data.json": '{"instance_id":"vm1.default","hostname":"vm1"}',
  "openstack/latest/user_data": "#cloud-config\n".repeat(100),
  "openstack/latest/network_data.json": "version: 2\n",
};

/** @param {string} program */
const has = (program) => spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;

const close = () => rmSync(directory, { recursive: true, force: true });

function writeSources() {
  for (const [name, text] of Object.entries(texts)) {
    const place = path.join(source, name);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, text);
  }
  writeFileSync(base, Buffer.alloc(1 << 20));
}

export const benchmarks = [
  {
    name: "disks: a cloud-init medium, files to ISO image on disk",
    clock: "wall",
    goal: "at least 5 x, without a child process",
    available: () => has("xorrisofs") || "xorrisofs is not installed",
    subject: {
      name: "isoImage and writeImage",
      prepare: () => path.join(directory, "ours.iso"),
      /** @param {string} target */
      run: async (target) => {
        const files = Object.entries(texts).map(([name, text]) => ({
          path: name,
          content: sealText(text),
        }));
        await writeImage(target, isoImage({ label: "config-2", files }));
        return 1;
      },
    },
    baseline: {
      name: "xorrisofs",
      prepare: () => {
        writeSources();
        return path.join(directory, "theirs.iso");
      },
      /** @param {string} target */
      run: (target) => {
        const options = ["-joliet", "-rock", "-partition_cyl_align", "on"];
        const args = ["-output", target, "-volid", "config-2", ...options, source];
        execFileSync("xorrisofs", args, { stdio: "ignore" });
        return 1;
      },
    },
  },
  {
    name: "disks: an overlay on a raw image",
    clock: "wall",
    goal: "at least 5 x, without a child process",
    available: () => has("qemu-img") || "qemu-img is not installed",
    close,
    subject: {
      name: "qcow2Image and writeImage",
      prepare: () => path.join(directory, "ours.qcow2"),
      /** @param {string} target */
      run: async (target) => {
        await writeImage(target, qcow2Image(1n << 20n, { path: base, format: "raw" }));
        return 1;
      },
    },
    baseline: {
      name: "qemu-img create",
      prepare: () => {
        writeSources();
        return path.join(directory, "theirs.qcow2");
      },
      /** @param {string} target */
      run: (target) => {
        execFileSync("qemu-img", ["create", "-q", "-f", "qcow2", "-b", base, "-F", "raw", target]);
        return 1;
      },
    },
  },
];
