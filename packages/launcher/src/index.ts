export type { Log } from "@virtkit/api/observe";
export { isLauncherError, LauncherError, type LauncherErrorCode } from "./launcher-error.ts";
export type { CreateControl, OwnedControl } from "./process/create-control.ts";
export { type LauncherOptions, parseLauncherOptions } from "./process/launcher-options.ts";
export { jsonLog } from "./process/log.ts";
export { main } from "./process/main.ts";
export { type LauncherWorld, runLauncher } from "./process/run-launcher.ts";
