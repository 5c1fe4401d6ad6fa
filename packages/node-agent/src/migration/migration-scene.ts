import type { ClusterConfig } from "@virtkit/api/config";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { KubeObject, ObjectName } from "@virtkit/kube";
import type { EventRecorder } from "@virtkit/kube/writes";
import type { AgentContext } from "../service/agent-context.ts";
import type { GuestHold } from "../service/guest-hold.ts";
import type { MigrationService } from "./migration-service.ts";

/** What `NodeMigrations` works with. */
export interface NodeMigrationsOptions {
  readonly context: Omit<AgentContext, "signal">;
  readonly nodeName: string;
  config(): ClusterConfig;
  readonly recorder: EventRecorder;
  /** Absent: guests can neither arrive on this node nor leave it. */
  readonly service?: MigrationService | undefined;
  enqueue(vmi: ObjectName, after: number): void;
}

/** What one pass over one side of a migration works with. */
export interface MigrationScene extends NodeMigrationsOptions {
  readonly vmi: VirtualMachineInstance & KubeObject;
  readonly hold: GuestHold;
  readonly context: AgentContext;
}

/** The result of a pass. */
export interface MigrationPass {
  /** Whether the migration is responsible for the guest. */
  readonly owns: boolean;
  /** Milliseconds until the next check. */
  readonly next?: number | undefined;
}
