export { type FrontProxy, readFrontProxy } from "./access/front-proxy.ts";
export type { ServerVersion } from "./aggregated/aggregated-api.ts";
export { agentPodAddress, type NodeAgentAddress } from "./aggregated/cluster-lookup.ts";
export type { StreamLimits } from "./aggregated/stream-limits.ts";
export {
  ApiServerError,
  type ApiServerErrorCode,
  isApiServerError,
} from "./api-server-error.ts";
export { apiServices } from "./certificates/api-services.ts";
export { type BundledObjects, bundledObjects, keepBundles } from "./certificates/ca-bundles.ts";
export {
  type CertificateSigner,
  type CertificateSignerOptions,
  createCertificateSigner,
} from "./certificates/certificate-signer.ts";
export { SecretAuthorityStore } from "./certificates/secret-authority-store.ts";
export {
  type ApiServer,
  type ApiServerLimits,
  type ApiServerOptions,
  createApiServer,
} from "./create-api-server.ts";
export {
  type WebhookConfigurations,
  type WebhookTarget,
  webhookConfigurations,
} from "./webhooks/webhook-configurations.ts";
