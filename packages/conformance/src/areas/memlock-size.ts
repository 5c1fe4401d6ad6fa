import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { at } from "@virtkit/api/shape";
import { kubevirtLauncherProfile } from "@virtkit/launcher-pod";
import { memlockSize as sizeOf } from "@virtkit/node-agent";
import { guardVmis } from "./guard-vmis.ts";
import { objectField } from "./input-fields.ts";
import { contextConfig } from "./request-context.ts";

/** Only the memory of its processes counts here. */
const profile = kubevirtLauncherProfile({ image: "launcher" });

/** The memory lock limit of a VMI, in bytes and as a quantity. The input may bring a configuration of its own. */
export function memlockSize(input: unknown, context: unknown): { bytes: number; quantity: string } {
  const vmi = objectField(input, "vmi") as VirtualMachineInstance;
  const own = at(input, "config") ?? at(input, "configuration");
  const config = contextConfig(own === undefined ? context : { configuration: own });
  const size = guardVmis({ "input.vmi": vmi }, () => sizeOf(vmi, config, profile));
  return { bytes: Number(size.value()), quantity: size.toString() };
}
