import { int64, type OpenEnum, object, openEnum, type Schema, string } from "../schema.ts";

/** What a taint does. */
export type TaintEffect = OpenEnum<typeof TaintEffectValues>;
export const TaintEffectValues = ["NoExecute", "NoSchedule", "PreferNoSchedule"] as const;
export const TaintEffectSchema: Schema<TaintEffect> = openEnum(TaintEffectValues);

/** How to compare a taint's value. */
export type TolerationOperator = OpenEnum<typeof TolerationOperatorValues>;
export const TolerationOperatorValues = ["Equal", "Exists"] as const;
export const TolerationOperatorSchema: Schema<TolerationOperator> =
  openEnum(TolerationOperatorValues);

/** A taint that the Pod tolerates. */
export interface Toleration {
  effect?: TaintEffect;
  /** Empty with `Exists` tolerates every taint. */
  key?: string;
  operator?: TolerationOperator;
  /** How long the Pod stays after a `NoExecute` taint appears; forever if absent. */
  tolerationSeconds?: number;
  value?: string;
}

export const TolerationSchema: Schema<Toleration> = object<Toleration>({
  effect: TaintEffectSchema,
  key: string,
  operator: TolerationOperatorSchema,
  tolerationSeconds: int64,
  value: string,
});
