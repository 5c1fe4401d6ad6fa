export { type FollowConfigurationOptions, followConfiguration } from "./follow-configuration.ts";
export { type HealthServer, serveHealth } from "./health-server.ts";
export { type InstallOptions, install } from "./install/install.ts";
export { resourceOf } from "./install/resource-of.ts";
export { type UninstallOptions, uninstall } from "./install/uninstall.ts";
export { type FoundProjects, installedProjects } from "./installed-projects.ts";
export { isOperatorError, OperatorError, type OperatorErrorCode } from "./operator-error.ts";
export { type ProjectsChangeOptions, projectsChange } from "./projects-change.ts";
export { untilSignal } from "./until-signal.ts";
