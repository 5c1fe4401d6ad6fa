export {
  HostError,
  type HostErrorCode,
  type HostErrorOptions,
  hasErrno,
  isHostError,
} from "./host-error.ts";
export { OwnedFd } from "./owned-fd.ts";
