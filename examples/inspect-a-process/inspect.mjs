#!/usr/bin/env node
/**
 * Prints how a process is isolated: `node inspect.mjs [PID]`, by default of itself. Everything is
 * read through one handle of the process, so that all of it is about the same one.
 */
import { isHostError } from "@virtkit/host-primitives";
import {
  cgroupLayout,
  cgroupPlace,
  openCgroup,
  unifiedPlace,
} from "@virtkit/host-primitives/cgroups";
import {
  formatDeviceRule,
  listDeviceFilters,
  parseDevicesList,
} from "@virtkit/host-primitives/device-rules";
import { inspectProcess, ProcessHandle } from "@virtkit/host-primitives/process";

/** @typedef {import("@virtkit/host-primitives/process").Isolation} Isolation */
/** @typedef {import("@virtkit/host-primitives/cgroups").CgroupLayout} CgroupLayout */

/** @type {string[]} */
const report = [];
/** @param {string} line */
const print = (line) => report.push(line);

/** @param {string} title @param {readonly string[]} lines */
function section(title, lines) {
  print(`\n${title}`);
  for (const line of lines.length > 0 ? lines : ["none"]) print(`  ${line}`);
}

/** @param {Isolation} isolation @param {CgroupLayout} layout */
function deviceRulesV1({ cgroups }, layout) {
  const place = layout.controllers["devices"] && cgroupPlace(layout, cgroups, "devices");
  if (!place) return [];
  const cgroup = openCgroup(place);
  try {
    const list = cgroup.read("devices.list");
    if (list === "a *:* rwm") return ["all devices (v1)"];
    return parseDevicesList(list).map((rule) => `allow ${formatDeviceRule(rule)} (v1)`);
  } finally {
    cgroup.close();
  }
}

/** @param {Isolation} isolation @param {CgroupLayout} layout */
function deviceRulesV2({ cgroups }, layout) {
  const place = unifiedPlace(layout, cgroups);
  if (!place) return [];
  const cgroup = openCgroup(place);
  try {
    return listDeviceFilters(cgroup).map(
      ({ id, name }) => `program ${id} ${name || "without a name"} (v2)`,
    );
  } catch (error) {
    if (!isHostError(error) || error.errno !== "EPERM") throw error;
    return ["programs are shown to root only (v2)"];
  } finally {
    cgroup.close();
  }
}

/** @param {number} pid */
function inspect(pid) {
  const handle = ProcessHandle.open(pid);
  try {
    const isolation = inspectProcess(handle);
    const { namespaces, cgroups, mounts, uid, gid, parentPid, namespacePid } = isolation;
    print(`process ${pid} (${handle.read("comm").trim()})`);
    print(`  parent ${parentPid}, user ${uid}:${gid}, pid in its own namespace ${namespacePid}`);
    const own = Object.entries(namespaces).map(
      ([kind, identity]) => `${kind.padEnd(8)} ${identity}`,
    );
    section("namespaces", own);
    const names = cgroups.map(
      ({ controllers, path }) => `${controllers.join(",") || "v2"} ${path}`,
    );
    section("cgroups", names);
    const lines = mounts.map(
      ({ mountPoint, fileSystemType, source, options }) =>
        `${mountPoint} (${fileSystemType} ${source}) ${options.join(",")}`,
    );
    section("mounts", lines);
    // Where the hierarchies are is this process's business, not the inspected one's.
    const self = ProcessHandle.open(process.pid);
    const layout = cgroupLayout(inspectProcess(self).mounts);
    self.close();
    section("device rules", [
      ...deviceRulesV1(isolation, layout),
      ...deviceRulesV2(isolation, layout),
    ]);
  } finally {
    handle.close();
  }
}

try {
  const [text = String(process.pid)] = process.argv.slice(2);
  inspect(Number(text));
  process.stdout.write(`${report.join("\n")}\n`);
} catch (error) {
  if (!isHostError(error)) throw error;
  process.stderr.write(`inspect: ${error.message}\n`);
  process.exitCode = 1;
}
