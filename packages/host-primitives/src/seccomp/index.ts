export {
  launcherSeccompProfile,
  type SeccompArgument,
  type SeccompFilter,
  type SeccompProfile,
  type SeccompRule,
} from "./launcher-seccomp-profile.ts";
