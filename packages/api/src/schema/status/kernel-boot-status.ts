import { object, type Schema, uint32, withRules } from "../schema.ts";

/** The initial RAM disk. */
export interface InitrdInfo {
  /** CRC-32. */
  checksum?: number;
}

export const InitrdInfoSchema: Schema<InitrdInfo> = object<InitrdInfo>({
  checksum: withRules(uint32, { minimum: 0, maximum: 4_294_967_295 }),
});

/** The kernel. */
export interface KernelInfo {
  /** CRC-32. */
  checksum?: number;
}

export const KernelInfoSchema: Schema<KernelInfo> = object<KernelInfo>({
  checksum: withRules(uint32, { minimum: 0, maximum: 4_294_967_295 }),
});

/** What a direct kernel boot used. */
export interface KernelBootStatus {
  initrdInfo?: InitrdInfo;
  kernelInfo?: KernelInfo;
}

export const KernelBootStatusSchema: Schema<KernelBootStatus> = object<KernelBootStatus>({
  initrdInfo: InitrdInfoSchema,
  kernelInfo: KernelInfoSchema,
});
