import type { LauncherRequest } from "../launcher-request.ts";
import type { ResourceSheet } from "./resource-sheet.ts";

/** A rule about the compute container's resources; does nothing where it does not apply. */
export type ResourceRule = (request: LauncherRequest, sheet: ResourceSheet) => void;
