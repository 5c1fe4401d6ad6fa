import type { Domain } from "../model/domain.ts";
import type { Comparison, DomainChange } from "./domain-change.ts";
import { valueDifferences } from "./value-differences.ts";

/** Guest CPUs to plug in, and host CPUs to run them on. */
export function diffCpus(running: Domain, wanted: Domain, comparison: Comparison): DomainChange[] {
  return [...diffCount(running, wanted), ...diffPins(running, wanted, comparison)];
}

function diffCount(running: Domain, wanted: Domain): DomainChange[] {
  const changes: DomainChange[] = [];
  const [from, to] = [pluggedCpus(running), pluggedCpus(wanted)];
  if (from !== to) {
    const summary = `set the number of CPUs from ${from} to ${to}`;
    const restart = whyRestart(running, from, to);
    const migrate = "the Pod was created for fewer CPUs, so the guest must move to a new one";
    changes.push({
      kind: "set-vcpus",
      from,
      to,
      summary,
      effect: restart === undefined ? "needs-migration" : "needs-restart",
      reason: restart ?? migrate,
    });
  }
  const [limit, newLimit] = [limitOf(running), limitOf(wanted)];
  // A guest without a limit has as many CPUs as it can: that is not a second change.
  if (limit !== newLimit && (from === to || newLimit !== to)) {
    const summary = `set the number of CPUs that can be plugged in from ${limit} to ${newLimit}`;
    const reason = "the limit is fixed when the guest starts";
    const base = { kind: "set-vcpu-limit", from: limit, to: newLimit, summary } as const;
    changes.push({ ...base, effect: "needs-restart", reason });
  }
  return changes;
}

function whyRestart(running: Domain, from: number, to: number): string | undefined {
  if (to < from) return "CPUs cannot be unplugged from a running guest";
  if (running.os.type.arch === "aarch64")
    return "guests of this architecture do not support CPU hotplug";
  const limit = limitOf(running);
  return to > limit ? `the guest was started with a limit of ${limit}` : undefined;
}

function limitOf({ vcpu }: Domain): number {
  return vcpu?.count || 1;
}

/** The CPUs that the guest has now: as listed, otherwise as libvirt counts them, otherwise all of them. */
function pluggedCpus(domain: Domain): number {
  const { vcpu, vcpus } = domain;
  if (vcpus && vcpus.vcpu.length > 0) {
    return vcpus.vcpu.filter(({ enabled }) => enabled !== "no").length;
  }
  const current = Number(vcpu?.extra?.attributes?.["current"]);
  return Number.isInteger(current) && current > 0 ? current : limitOf(domain);
}

function diffPins(
  { cputune: running }: Domain,
  { cputune: wanted }: Domain,
  { filledIn }: Comparison,
): DomainChange[] {
  if (!wanted || valueDifferences(running, wanted, "cputune", filledIn).length === 0) return [];
  const summary = "run the guest's CPUs and threads on other CPUs of the host";
  return [{ kind: "pin-cpus", cputune: wanted, effect: "live", summary }];
}
