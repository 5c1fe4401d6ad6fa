import { expect } from "vitest";
import type { MovingWorld } from "./moving-world.ts";

/** Lets time pass, and lets the controller hand over what it may; two copies never run at once. */
export async function settle(world: MovingWorld, milliseconds = 60_000): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 500) {
    await world.clock.pass(500);
    await world.grantHandover();
    expect(world.running.length).toBeLessThanOrEqual(1);
  }
}

/** Who runs the guest in the end; a fault is marked. */
export async function outcome(world: MovingWorld): Promise<string> {
  const [node, ...others] = world.running;
  if (others.length > 0) return "two copies run";
  const grant = await world.grant();
  const { status } = await world.vmi();
  if (node === undefined) return `none runs, ${grant.state}, ${status?.phase}`;
  if (grant.state !== "Claimed" || grant.holder.node !== node)
    return `${node} runs, ${grant.state}`;
  if (status?.nodeName !== node) return `${node} runs, the VMI says ${status?.nodeName}`;
  const { completed, failed } = status.migrationState ?? {};
  if (!completed) return `${node} runs, and the migration has not ended`;
  return `${node} runs, ${failed ? "failed" : "moved"}`;
}
