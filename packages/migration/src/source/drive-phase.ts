import { isMigrationError, MigrationError } from "../migration-error.ts";

/** A phase and the side that carries it out. */
export type Phase =
  | "source/begin"
  | "target/prepare"
  | "source/perform"
  | "target/finish"
  | "source/decision"
  | "source/switch"
  | "source/confirm";

/** Carries a phase out; errors name the phase and the side. */
export async function inPhase<T>(phase: Phase, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw phaseError(phase, error);
  }
}

export function phaseError(phase: Phase, cause: unknown): MigrationError {
  // The target names its own phases.
  if (isMigrationError(cause) && cause.path === phase) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  const [side, name] = phase.split("/");
  const message = `${name} failed at the ${side}: ${why}`;
  return new MigrationError("MIGRATION_PHASE_FAILED", message, { path: phase, cause });
}
