import { array, boolean, map, object, required, type Schema, string } from "../schema.ts";

/** Mediated devices for some nodes only. */
export interface NodeMediatedDeviceTypesConfig {
  mediatedDeviceTypes?: string[];
  /** Deprecated: use `mediatedDeviceTypes`. */
  mediatedDevicesTypes?: string[];
  /** Labels of these nodes. */
  nodeSelector: Record<string, string>;
}

export const NodeMediatedDeviceTypesConfigSchema: Schema<NodeMediatedDeviceTypesConfig> =
  object<NodeMediatedDeviceTypesConfig>({
    mediatedDeviceTypes: array(string, { listType: "atomic" }),
    mediatedDevicesTypes: array(string, { listType: "atomic" }),
    nodeSelector: required(map(string)),
  });

/** Mediated devices to create on nodes. */
export interface MediatedDevicesConfiguration {
  enabled?: boolean;
  mediatedDeviceTypes?: string[];
  /** Deprecated: use `mediatedDeviceTypes`. */
  mediatedDevicesTypes?: string[];
  nodeMediatedDeviceTypes?: NodeMediatedDeviceTypesConfig[];
}

export const MediatedDevicesConfigurationSchema: Schema<MediatedDevicesConfiguration> =
  object<MediatedDevicesConfiguration>({
    enabled: boolean,
    mediatedDeviceTypes: array(string, { listType: "atomic" }),
    mediatedDevicesTypes: array(string, { listType: "atomic" }),
    nodeMediatedDeviceTypes: array(NodeMediatedDeviceTypesConfigSchema, { listType: "atomic" }),
  });
