import { array, object, type Schema, string } from "../schema.ts";

/** One resolver option, as in resolv.conf. */
export interface PodDNSConfigOption {
  name?: string;
  value?: string;
}

export const PodDNSConfigOptionSchema: Schema<PodDNSConfigOption> = object<PodDNSConfigOption>({
  name: string,
  value: string,
});

/** Resolver settings that are added to those of the DNS policy. */
export interface PodDNSConfig {
  nameservers?: string[];
  options?: PodDNSConfigOption[];
  /** Domains to search for short names. */
  searches?: string[];
}

export const PodDNSConfigSchema: Schema<PodDNSConfig> = object<PodDNSConfig>({
  nameservers: array(string, { listType: "atomic" }),
  options: array(PodDNSConfigOptionSchema, { listType: "atomic" }),
  searches: array(string, { listType: "atomic" }),
});
