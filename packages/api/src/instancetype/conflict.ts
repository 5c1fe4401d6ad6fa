/** A field of a VM that an instance type or a preference decides, or forbids. */
export interface InstancetypeConflict {
  readonly field: string;
  readonly message: string;
}

/** The VM sets a field that its instance type sets too. */
export function conflictAt(...path: readonly string[]): InstancetypeConflict {
  const field = path.join(".");
  const message = `${field} is decided by the instance type; remove it, or choose another instance type`;
  return { field, message };
}
