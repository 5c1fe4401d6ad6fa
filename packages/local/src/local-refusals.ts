import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { Refusal } from "@virtkit/node-agent/errors";
import { computeRefusals } from "./compute-refusals.ts";
import { deviceRefusals } from "./device-refusals.ts";
import { hostRefusals } from "./host-refusals.ts";
import type { LocalFacts } from "./local-facts.ts";
import { probeRefusals } from "./probe-refusals.ts";
import { volumeRefusals } from "./volume-refusals.ts";

/**
 * Everything that local mode does not support for a VMI on this host, each with its field and what
 * to do instead; empty if it can run. Pure. The VMI is as its user wrote it, with fields of the
 * right types: what a cluster would refuse is not checked here.
 */
export function localRefusals(vmi: VirtualMachineInstance, facts: LocalFacts): readonly Refusal[] {
  return [
    ...hostRefusals(facts),
    ...computeRefusals(vmi, facts),
    ...deviceRefusals(vmi, facts),
    ...volumeRefusals(vmi, facts),
    ...probeRefusals(vmi),
  ];
}
