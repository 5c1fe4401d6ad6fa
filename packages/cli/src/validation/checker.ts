import type { ClusterConfig } from "@virtkit/api/config";
import type { Path } from "@virtkit/api/schema";

/** One fault of an object. */
export interface Fault {
  /** The kind of fault, for programs. */
  readonly code: string;
  /** The field; the place in the text follows from it. */
  readonly path: Path;
  /** One sentence that names the field, what was found and what to do. */
  readonly message: string;
  /** Whether the checker stopped here, so that it may find more once this is fixed. */
  readonly last?: boolean;
}

/** What a checker may use in addition to the object. */
export interface CheckerContext {
  /** Whether unknown fields are faults. */
  readonly strict: boolean;
  /** The configuration of the cluster that the object is meant for. */
  readonly config: ClusterConfig;
}

/** What the module of a checker exports. Accepts any value, never throws for it. */
export interface CheckerModule {
  check(object: unknown, context: CheckerContext): readonly Fault[];
}

/** A set of rules, loaded when an object needs it. */
export interface Checker {
  readonly name: string;
  /** Kinds that it has rules for; all kinds if absent. */
  readonly kinds?: readonly string[];
  load(): Promise<CheckerModule>;
}
