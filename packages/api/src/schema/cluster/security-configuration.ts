import {
  array,
  boolean,
  type OpenEnum,
  object,
  openEnum,
  type Schema,
  string,
  withRules,
} from "../schema.ts";

/** A profile that is installed on the nodes, or the runtime's own. */
export interface CustomProfile {
  /** Path below the kubelet's profile folder. */
  localhostProfile?: string;
  runtimeDefaultProfile?: boolean;
}

export const CustomProfileSchema: Schema<CustomProfile> = object<CustomProfile>({
  localhostProfile: string,
  runtimeDefaultProfile: boolean,
});

/** The seccomp profile of launchers. */
export interface VirtualMachineInstanceProfile {
  customProfile?: CustomProfile;
}

export const VirtualMachineInstanceProfileSchema: Schema<VirtualMachineInstanceProfile> =
  object<VirtualMachineInstanceProfile>({
    customProfile: CustomProfileSchema,
  });

/** Which system calls launchers may make. */
export interface SeccompConfiguration {
  virtualMachineInstanceProfile?: VirtualMachineInstanceProfile;
}

export const SeccompConfigurationSchema: Schema<SeccompConfiguration> =
  object<SeccompConfiguration>({
    virtualMachineInstanceProfile: VirtualMachineInstanceProfileSchema,
  });

/** The lowest version to accept. */
export type TLSProtocolVersion = OpenEnum<typeof TLSProtocolVersionValues>;
export const TLSProtocolVersionValues = [
  "VersionTLS10",
  "VersionTLS11",
  "VersionTLS12",
  "VersionTLS13",
] as const;
export const TLSProtocolVersionSchema: Schema<TLSProtocolVersion> =
  openEnum(TLSProtocolVersionValues);

/** TLS settings of the components' servers. */
export interface TLSConfiguration {
  /** Names as in OpenSSL or IANA; not with TLS 1.3, which has its own. */
  ciphers?: string[];
  minTLSVersion?: TLSProtocolVersion;
}

export const TLSConfigurationSchema: Schema<TLSConfiguration> = object<TLSConfiguration>({
  ciphers: array(string, { listType: "set" }),
  minTLSVersion: withRules(TLSProtocolVersionSchema, { closed: true }),
});

/** How TDX guests get their quotes. */
export interface TDXAttestationConfiguration {
  /** Whether guests need the service to start. */
  enforced?: boolean;
  /** Socket of the quote service. */
  qgsSocketPath?: string;
}

export const TDXAttestationConfigurationSchema: Schema<TDXAttestationConfiguration> =
  object<TDXAttestationConfiguration>({
    enforced: withRules(boolean, { default: false }),
    qgsSocketPath: withRules(string, { default: "/var/run/tdx-qgs/qgs.socket" }),
  });

/** Intel TDX guests. */
export interface TDXConfiguration {
  attestation?: TDXAttestationConfiguration;
}

export const TDXConfigurationSchema: Schema<TDXConfiguration> = object<TDXConfiguration>({
  attestation: TDXAttestationConfigurationSchema,
});

/** Confidential guests. */
export interface ConfidentialComputeConfiguration {
  tdx?: TDXConfiguration;
}

export const ConfidentialComputeConfigurationSchema: Schema<ConfidentialComputeConfiguration> =
  object<ConfidentialComputeConfiguration>({
    tdx: withRules(TDXConfigurationSchema, { nullable: true }),
  });
