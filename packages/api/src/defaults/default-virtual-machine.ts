import type { ClusterConfig } from "../config/index.ts";
import {
  type DataVolumeTemplateSpec,
  type VirtualMachine,
  type VirtualMachineInstanceSpec,
  VirtualMachineSchema,
} from "../schema/index.ts";
import { defaultArchitecture, defaultMachineType } from "./default-spec.ts";
import { type DefaultsOptions, uuidSource } from "./defaults-options.ts";
import { guardObject } from "./guard-object.ts";
import { pciTopology } from "./pci-topology.ts";
import { sanitiseAddresses } from "./sanitise-addresses.ts";
import { wireForm } from "./wire-form.ts";

/** What the defaults of a VirtualMachine depend on besides the object. */
export interface VirtualMachineDefaultsOptions extends DefaultsOptions {
  /** Create also generates a firmware UUID and serial; update leaves them. Default CREATE. */
  readonly operation?: "CREATE" | "UPDATE";
  /**
   * Labels of a CDI DataSource, `undefined` if it does not exist. The caller follows a DataSource that points
   * to another one. Default: there are none.
   */
  readonly dataSourceLabels?: (
    namespace: string,
    name: string,
  ) => Readonly<Record<string, string>> | undefined;
}

/**
 * A VirtualMachine with what KubeVirt's mutating webhook fills in: architecture, machine type, and on create a
 * firmware UUID and serial that stay the same for all its runs. The rest is filled in for each run, in its
 * VirtualMachineInstance.
 *
 * The argument must have the shape of its schema; it is not changed. Throws an `ApiError` with
 * `API_OBJECT_MALFORMED` and the field as `path` if the shape is wrong.
 */
export function defaultVirtualMachine(
  vm: VirtualMachine,
  config: ClusterConfig,
  options: VirtualMachineDefaultsOptions = {},
): VirtualMachine {
  return guardObject(VirtualMachineSchema, vm, () => filledIn(vm, config, options));
}

function filledIn(
  vm: VirtualMachine,
  config: ClusterConfig,
  options: VirtualMachineDefaultsOptions,
): VirtualMachine {
  const draft = wireForm(VirtualMachineSchema, vm);
  draft.metadata ??= {};
  const template = draft.spec.template;
  template.metadata ??= {};
  const metadata = template.metadata;
  template.spec ??= { domain: { devices: {} } };
  const spec = template.spec;
  spec.domain.resources ??= {};
  sanitiseAddresses(spec);
  const isNew = options.operation !== "UPDATE";
  if (isNew) firmwareIdentity(spec, uuidSource(options));
  if (!spec.architecture) {
    const found = architectureOfImages(draft, config, options);
    if (found) spec.architecture = found;
  }
  defaultArchitecture(spec, config);
  defaultMachineType(spec, config);
  if (isNew) pciTopology(metadata, spec, config);
  return draft;
}

function firmwareIdentity({ domain }: VirtualMachineInstanceSpec, uuid: () => string): void {
  domain.firmware ??= {};
  const firmware = domain.firmware;
  firmware.uuid ||= uuid();
  firmware.serial ||= uuid();
}

/** The architecture of the first image to be cloned that names one. */
function architectureOfImages(
  vm: VirtualMachine,
  { names }: ClusterConfig,
  { dataSourceLabels }: VirtualMachineDefaultsOptions,
): string | undefined {
  if (!dataSourceLabels) return undefined;
  for (const template of vm.spec.dataVolumeTemplates ?? []) {
    const image = labelsOfImage(template, vm.metadata?.namespace ?? "", dataSourceLabels);
    const found = image?.[names.labels.templateArchitecture];
    if (found && ["amd64", "arm64", "s390x"].includes(found)) return found;
  }
  return undefined;
}

function labelsOfImage(
  { spec }: DataVolumeTemplateSpec,
  namespace: string,
  dataSourceLabels: NonNullable<VirtualMachineDefaultsOptions["dataSourceLabels"]>,
): Readonly<Record<string, string>> | undefined {
  const source = spec.sourceRef;
  if (source?.kind?.toLowerCase() !== "datasource") return undefined;
  return dataSourceLabels(source.namespace || namespace, source.name);
}
