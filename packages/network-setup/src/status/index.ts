export {
  type DomainInterface,
  type GuestInterface,
  type InterfaceReports,
  mergeInterfaceStatuses,
} from "./interface-statuses.ts";
export { type NetworkChange, networkChanges } from "./network-changes.ts";
