import { boolean, object, type Schema } from "../schema.ts";

/** A feature that is on or off; on if the object is present and empty. */
export interface FeatureState {
  enabled?: boolean;
}

export const FeatureStateSchema: Schema<FeatureState> = object<FeatureState>({
  enabled: boolean,
});
