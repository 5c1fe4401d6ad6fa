/** Kinds that have admission rules. */
export type AdmissionKind =
  | "VirtualMachineInstance"
  | "VirtualMachine"
  | "VirtualMachineInstanceMigration";

/** The parts of the API server's request to a webhook that the rules need. */
export interface AdmissionRequest {
  readonly kind: AdmissionKind;
  readonly operation: "CREATE" | "UPDATE";
  /** The object as it was sent: any JSON value at all. */
  readonly object: unknown;
  /** On update, the object as it is stored. */
  readonly oldObject?: unknown;
  readonly namespace?: string;
  readonly name?: string;
  /** Who asks. Some changes are reserved for KubeVirt's own service accounts. */
  readonly username?: string;
  /** What the authenticator knows about the user; the node name of a node agent comes from here. */
  readonly userExtra?: Readonly<Record<string, readonly string[]>>;
}
