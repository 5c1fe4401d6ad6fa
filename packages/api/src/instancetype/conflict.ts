/** A field of a VM that an instance type or a preference sets or forbids. */
export interface InstancetypeConflict {
  readonly field: string;
  readonly message: string;
}

/** The VM and its instance type set the same field. */
export function conflictAt(...path: readonly string[]): InstancetypeConflict {
  const field = path.join(".");
  const message = `${field} is set by the instance type; remove it, or choose another instance type`;
  return { field, message };
}
