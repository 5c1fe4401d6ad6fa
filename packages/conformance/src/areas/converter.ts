import type { VirtualMachineInstance } from "@virtkit/api/schema";
import {
  type ConverterContext,
  convert,
  domainFor,
  hostFacts,
  resolveContext,
  toXml,
  withHostDisks,
} from "@virtkit/converter";
import { gracePeriodSeconds, hotplugPorts, launcherEdits } from "@virtkit/converter/launcher";
import { parse } from "yaml";
import type { BatchFunction } from "../batch/batch-area.ts";
import { environmentOf, type RecordedEnvironment } from "../recorded/recorded-environment.ts";
import { InputError, objectField, stringField } from "./input-fields.ts";

/** Recorded conversions: the environment, and the context created from it, if that was possible. */
interface ConversionContext {
  readonly environment?: RecordedEnvironment;
  readonly resolved?: ConverterContext;
}

/** VMI to libvirt domain. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  convert: (input, given) => {
    const vmi = vmiOf(input);
    return { xml: toXml(convert(vmi, contextOf(vmi, given))) };
  },
  domain: (input, given) => {
    const vmi = parseVmi(stringField(input, "vmiYaml"));
    const { environment = {} } = conversionContext(given);
    const known = environmentOf(environment);
    if (!environment.skipDefaulting) return { xml: toXml(domainFor(vmi, known)) };
    const seen = withHostDisks(vmi);
    return { xml: toXml(convert(seen, resolveContext(seen, known))) };
  },
  launcher: (input, given) => {
    const vmi = vmiOf(input);
    const context = contextOf(vmi, given);
    const { environment = {} } = conversionContext(given);
    const edits = environmentOf(environment);
    const domain = launcherEdits(convert(vmi, context), vmi, context, edits);
    const counts = { ...hotplugPorts(vmi, domain), gracePeriodSeconds: gracePeriodSeconds(vmi) };
    return { xml: toXml(domain), counts };
  },
};

/** The VMI of a request; only the converter knows more about its shape. */
function vmiOf(input: unknown): VirtualMachineInstance {
  return objectField(input, "vmi") as unknown as VirtualMachineInstance;
}

function conversionContext(given: unknown): ConversionContext {
  const { environment, resolved } = Object(given) as ConversionContext;
  return { ...(environment && { environment }), ...(resolved && { resolved }) };
}

function contextOf(vmi: VirtualMachineInstance, given: unknown): ConverterContext {
  const { environment = {}, resolved } = conversionContext(given);
  return resolved
    ? { ...resolved, host: hostFacts(environment) }
    : resolveContext(vmi, environmentOf(environment));
}

function parseVmi(text: string): VirtualMachineInstance {
  let vmi: unknown;
  try {
    vmi = parse(text);
  } catch (cause) {
    throw new InputError("input.vmiYaml", `is not YAML: ${(cause as Error).message}`, { cause });
  }
  if (vmi instanceof Object) return vmi as VirtualMachineInstance;
  throw new InputError("input.vmiYaml", "has no object; pass a VMI");
}
