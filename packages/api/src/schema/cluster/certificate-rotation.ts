import { type Duration, DurationSchema } from "../duration.ts";
import { object, type Schema } from "../schema.ts";

/** How long a certificate is valid, and when it is renewed. */
export interface CertConfig {
  duration?: Duration;
  /** How long before the end of validity a new one is issued. */
  renewBefore?: Duration;
}

export const CertConfigSchema: Schema<CertConfig> = object<CertConfig>({
  duration: DurationSchema,
  renewBefore: DurationSchema,
});

/** Certificates that the operator signs itself. */
export interface KubeVirtSelfSignConfiguration {
  ca?: CertConfig;
  /** Deprecated: use `ca.renewBefore`. */
  caOverlapInterval?: Duration;
  /** Deprecated: use `ca.duration`. */
  caRotateInterval?: Duration;
  /** Deprecated: use `server.duration`. */
  certRotateInterval?: Duration;
  server?: CertConfig;
}

export const KubeVirtSelfSignConfigurationSchema: Schema<KubeVirtSelfSignConfiguration> =
  object<KubeVirtSelfSignConfiguration>({
    ca: CertConfigSchema,
    caOverlapInterval: DurationSchema,
    caRotateInterval: DurationSchema,
    certRotateInterval: DurationSchema,
    server: CertConfigSchema,
  });

/** How certificates are renewed. */
export interface KubeVirtCertificateRotateStrategy {
  selfSigned?: KubeVirtSelfSignConfiguration;
}

export const KubeVirtCertificateRotateStrategySchema: Schema<KubeVirtCertificateRotateStrategy> =
  object<KubeVirtCertificateRotateStrategy>({
    selfSigned: KubeVirtSelfSignConfigurationSchema,
  });
