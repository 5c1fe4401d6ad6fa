import { type ClusterConfig, readFactor } from "../config/index.ts";
import { amountOf } from "../resource-amount.ts";
import {
  type MigrationPolicy,
  MigrationPolicySchema,
  type StallDetectorOptions,
  StallDetectorOptionsSchema,
} from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Admission, judge, refuse, refuseShape } from "./admission.ts";
import { argumentProblem } from "./argument-problem.ts";
import { type Cause, fine, invalid, quote } from "./cause.ts";
import { decodeStored } from "./decode.ts";
import { semanticallyEqual } from "./semantic-equality.ts";

/**
 * Checks a MigrationPolicy; `oldObject` is the stored one on update. While the gate MigrationStallDetection is off,
 * options that need it may stay as they are. Accepts objects of any shape and never throws; without a request or a
 * configuration, the request is refused.
 */
export function admitMigrationPolicy(
  request: { readonly object: unknown; readonly oldObject?: unknown },
  config: ClusterConfig,
): Admission {
  const problem = argumentProblem({ request, config });
  if (problem) return refuse(400, problem.message);
  const decoded = decodeStored(MigrationPolicySchema, request.object);
  if (!decoded.ok) return refuseShape(decoded);
  const stored = decodeStored(MigrationPolicySchema, request.oldObject);
  const policy = decoded.object;
  const old = stored.ok ? stored.object : undefined;
  return judge([
    ...completionTimeout(policy),
    ...maxDowntime(policy, old, config),
    ...stallDetector(policy, old, config),
    ...bandwidth(policy),
  ]);
}

const gate = "MigrationStallDetection";

function completionTimeout({ spec }: MigrationPolicy): readonly Cause[] {
  const seconds = spec.completionTimeoutPerGiB;
  if (!isSet(seconds) || seconds >= 0) return fine;
  return invalid("spec.completionTimeoutPerGiB", `is ${seconds}; it must not be negative`);
}

function maxDowntime(
  { spec }: MigrationPolicy,
  old: MigrationPolicy | undefined,
  config: ClusterConfig,
): readonly Cause[] {
  if (!isSet(spec.maxDowntimeMs) || config.gate(gate)) return fine;
  if (spec.maxDowntimeMs === old?.spec.maxDowntimeMs) return fine;
  return invalid("spec.maxDowntimeMs", `needs the feature gate ${gate}; turn it on`);
}

function stallDetector(
  { spec }: MigrationPolicy,
  old: MigrationPolicy | undefined,
  config: ClusterConfig,
): readonly Cause[] {
  const detector = spec.experimental?.stallDetector;
  if (!detector) return fine;
  const before = old?.spec.experimental?.stallDetector;
  const unchanged = before && semanticallyEqual(StallDetectorOptionsSchema, detector, before);
  const field = "spec.experimental.stallDetector";
  return [
    ...(unchanged || config.gate(gate)
      ? fine
      : invalid(field, `needs the feature gate ${gate}; turn it on`)),
    ...factors.flatMap(({ name, allows, range }) => {
      const text = detector[name];
      if (!isSet(text) || allows(readFactor(text))) return fine;
      return invalid(
        `${field}.${name}`,
        `is ${quote(text)}; use ${range}, with at most three decimals`,
      );
    }),
  ];
}

type FactorName = Extract<keyof StallDetectorOptions, `${string}Factor` | "ewmaAlpha">;

const factors: readonly {
  readonly name: FactorName;
  readonly range: string;
  allows(value: number): boolean;
}[] = [
  {
    name: "ewmaAlpha",
    range: "more than 0 and at most 1",
    allows: (value) => value > 0 && value <= 1,
  },
  { name: "precopyPossibleFactor", range: "1 or more", allows: (value) => value >= 1 },
  {
    name: "patienceWindowDecayFactor",
    range: "0 to 1",
    allows: (value) => value >= 0 && value <= 1,
  },
  { name: "completionTimeoutFactor", range: "1 or more", allows: (value) => value >= 1 },
];

function bandwidth({ spec }: MigrationPolicy): readonly Cause[] {
  const limit = amountOf(spec.bandwidthPerMigration);
  if (limit.sign() >= 0) return fine;
  return invalid("spec.bandwidthPerMigration", `is ${limit}; it must not be negative`);
}
