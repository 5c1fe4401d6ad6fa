import { int64, type OpenEnum, object, openEnum, type Schema, string } from "../schema.ts";

/** What a taint does. */
export type TaintEffect = OpenEnum<typeof TaintEffectValues>;
export const TaintEffectValues = ["NoExecute", "NoSchedule", "PreferNoSchedule"] as const;
export const TaintEffectSchema: Schema<TaintEffect> = openEnum(TaintEffectValues);

/** How a taint's value is compared. */
export type TolerationOperator = OpenEnum<typeof TolerationOperatorValues>;
export const TolerationOperatorValues = ["Equal", "Exists"] as const;
export const TolerationOperatorSchema: Schema<TolerationOperator> =
  openEnum(TolerationOperatorValues);

/** A taint that does not keep the Pod away from a node. */
export interface Toleration {
  effect?: TaintEffect;
  /** Empty with `Exists` tolerates every taint. */
  key?: string;
  operator?: TolerationOperator;
  /** How long the Pod stays after a `NoExecute` taint appears; for ever if absent. */
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
