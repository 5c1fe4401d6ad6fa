export type { PlannedEvent, PlannedWrite } from "../plan/plan.ts";
