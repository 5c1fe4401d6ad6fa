import { wallTime } from "../clock/index.ts";
import type { ClusterConfig } from "../config/index.ts";
import { type Admission, refuse } from "./admission.ts";
import { type AdmissionLookup, emptyCluster } from "./admission-lookup.ts";
import type { AdmissionRequest } from "./admission-request.ts";
import { argumentProblem } from "./argument-problem.ts";
import { quote } from "./cause.ts";
import { admitMigrationUpdate, admitNewMigration } from "./migration.ts";
import { type ServiceAccounts, serviceAccounts } from "./service-accounts.ts";
import { admitMachine } from "./virtual-machine.ts";
import { admitNewInstance } from "./virtual-machine-instance.ts";
import { admitInstanceUpdate } from "./virtual-machine-instance-update.ts";

/** Options of {@link admit}. */
export interface AdmitOptions {
  /** KubeVirt's own accounts. Default: those of namespace kubevirt. */
  readonly accounts?: ServiceAccounts;
  /** The clock. Default: now. */
  readonly now?: () => Date;
  /**
   * Whether the causes of all rules are listed. By default the rules for a VirtualMachine run in groups, and
   * the first group that finds something ends the list, as in KubeVirt.
   */
  readonly everyRule?: boolean;
}

const kubevirtAccounts = serviceAccounts();

/**
 * Checks a request as KubeVirt's validating webhooks do. Accepts an object of any shape and never throws; the
 * argument is not changed. Without a request or a configuration, the request is refused.
 *
 * @example
 * const { allowed, causes } = admit(
 *   { kind: "VirtualMachineInstance", operation: "CREATE", object },
 *   clusterConfig({}),
 * );
 */
export function admit(
  request: AdmissionRequest,
  config: ClusterConfig,
  lookup: AdmissionLookup = emptyCluster,
  { accounts = kubevirtAccounts, now = wallTime, everyRule = false }: AdmitOptions = {},
): Admission {
  const problem = argumentProblem({ request, config });
  if (problem) return refuse(400, problem.message);
  const byKubeVirt = accounts.isKubeVirt(request.username);
  const isNew = request.operation === "CREATE";
  switch (request.kind) {
    case "VirtualMachineInstance":
      return isNew
        ? admitNewInstance(request.object, config, byKubeVirt)
        : admitInstanceUpdate(request, config, accounts);
    case "VirtualMachine":
      return admitMachine(request, { config, lookup, byKubeVirt, now: now(), everyRule });
    case "VirtualMachineInstanceMigration":
      return isNew
        ? admitNewMigration(request, { config, lookup, accounts })
        : admitMigrationUpdate(request, config);
    default:
      return refuse(400, `kind ${quote(request.kind)} has no admission rules`);
  }
}
