export { answerAdmissionReview, type ReviewContext } from "./answer-review.ts";
export {
  type WebhookConfigurations,
  type WebhookTarget,
  webhookConfigurations,
} from "./webhook-configurations.ts";
export { type WebhookMode, webhookAt, webhookPaths } from "./webhook-paths.ts";
