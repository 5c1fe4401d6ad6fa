import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { environmentOf, recordedConversions } from "@virtkit/conformance/recorded";
import type { ConverterContext } from "../context.ts";
import type { Environment } from "../resolve/environment.ts";

/** A conversion recorded from KubeVirt. */
export interface Conversion {
  readonly name: string;
  /** The VMI with its defaults; absent if setting them failed. */
  readonly vmi: VirtualMachineInstance | undefined;
  readonly environment: Environment;
  /** Absent if creating it failed. */
  readonly resolved: ConverterContext | undefined;
  /** Absent if the conversion failed. */
  readonly xml: string | undefined;
  readonly launcherXml: string | undefined;
}

/** All recorded conversions. */
export function conversions(): readonly Conversion[] {
  return recordedConversions().map(({ name, vmi, context, expected }) => ({
    name,
    vmi: vmi as VirtualMachineInstance | undefined,
    environment: environmentOf(context.environment ?? {}),
    resolved: context.resolved as ConverterContext | undefined,
    xml: expected.xml,
    launcherXml: expected.launcherXml,
  }));
}
