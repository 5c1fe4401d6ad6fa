#!/usr/bin/env node
/**
 * Prints how a process is isolated: `node inspect.mjs [PID]`, by default itself. Everything is read through one
 * handle of the process, so that all of it is about the same process.
 */
import { isHostError } from "@virtkit/host-primitives";
import {
  cgroupPlaceOf,
  openCgroup,
  ownCgroupLayout,
  unifiedPlace,
} from "@virtkit/host-primitives/cgroups";
import {
  formatDeviceRule,
  listDeviceFilters,
  parseDevicesList,
} from "@virtkit/host-primitives/device-rules";
import { inspectProcess, ProcessHandle } from "@virtkit/host-primitives/process";

/** @type {string[]} */
const report = [];
/** @param {string} line */
const print = (line) => report.push(line);

/** @param {string} title @param {readonly string[]} lines */
function section(title, lines) {
  print(`\n${title}`);
  for (const line of lines.length > 0 ? lines : ["none"]) print(`  ${line}`);
}

/**
 * On a host with both hierarchies both apply: v1 by its list, v2 by its programs.
 * @param {ProcessHandle} handle
 * @param {readonly import("@virtkit/host-primitives/cgroups").CgroupMembership[]} memberships
 */
function deviceRules(handle, memberships) {
  const layout = ownCgroupLayout();
  const places = [
    layout.controllers["devices"] && cgroupPlaceOf(handle, "devices", layout),
    unifiedPlace(layout, memberships),
  ];
  return places.flatMap((place) => {
    if (!place) return [];
    const cgroup = openCgroup(place);
    try {
      const rules = cgroup.version === 1 ? listOfV1(cgroup) : filtersOfV2(cgroup);
      return rules.map((rule) => `v${cgroup.version} ${rule}`);
    } finally {
      cgroup.close();
    }
  });
}

/** @param {import("@virtkit/host-primitives/cgroups").Cgroup} cgroup */
function listOfV1(cgroup) {
  const list = cgroup.read("devices.list");
  if (list === "a *:* rwm") return ["all devices"];
  return parseDevicesList(list).map((rule) => `allow ${formatDeviceRule(rule)}`);
}

/** @param {import("@virtkit/host-primitives/cgroups").Cgroup} cgroup */
function filtersOfV2(cgroup) {
  try {
    return listDeviceFilters(cgroup).map(({ id, name }) => `program ${id} ${name}`);
  } catch (error) {
    if (!isHostError(error) || error.errno !== "EPERM") throw error;
    return ["programs are only shown to root"];
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
    section("device rules", deviceRules(handle, cgroups));
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
