import { isSet } from "@virtkit/api/shape";
import type { NodePass } from "./node-pass.ts";

/**
 * Seconds that a guest still has to shut down: `all` if it was not asked yet, undefined if it has none. The VMI
 * takes precedence over the domain, but a domain that was started without a grace period has none.
 */
export function graceLeft({ vmi, domain, view }: NodePass): number | "all" | undefined {
  const { seconds: promised = 0, startedAt } = domain?.grace ?? {};
  if (promised === 0) return undefined;
  const { terminationGracePeriodSeconds: asked } = vmi?.spec ?? {};
  const seconds = isSet(asked) ? asked : promised;
  if (seconds === 0) return undefined;
  if (startedAt === undefined) return "all";
  const passed = Math.floor(view.now / 1000) - Math.floor(startedAt / 1000);
  return passed >= seconds ? undefined : Math.max(seconds - passed, 1);
}
