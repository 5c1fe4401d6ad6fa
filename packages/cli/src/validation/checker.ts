import type { ClusterConfig } from "@virtkit/api/config";
import type { Path } from "@virtkit/api/schema";

/** One fault of an object. */
export interface Fault {
  /** What kind of fault, for programs. */
  readonly code: string;
  /** The field; positions in the text come from it. */
  readonly path: Path;
  /** One sentence that names the field, what was found and what to do. */
  readonly message: string;
  /** Whether the checker ended here, so that it may find more once this is mended. */
  readonly last?: boolean;
}

/** What a checker may look at beside the object. */
export interface CheckerContext {
  /** Whether fields that nobody knows are faults. */
  readonly strict: boolean;
  /** The configuration of the cluster that the object is meant for. */
  readonly config: ClusterConfig;
}

/** What the module of a checker exports. Takes any value, never throws on what it finds. */
export interface CheckerModule {
  check(object: unknown, context: CheckerContext): readonly Fault[];
}

/** A set of rules, loaded when an object needs it. */
export interface Checker {
  readonly name: string;
  /** Kinds that it has rules for; all kinds where it is absent. */
  readonly kinds?: readonly string[];
  load(): Promise<CheckerModule>;
}
