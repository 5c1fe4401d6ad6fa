import { float, int, object, required, type Schema } from "../schema.ts";

/** A steady rate with bursts. */
export interface TokenBucketRateLimiter {
  /** Requests that may be sent at once. */
  burst: number;
  /** Requests per second. */
  qps: number;
}

export const TokenBucketRateLimiterSchema: Schema<TokenBucketRateLimiter> =
  object<TokenBucketRateLimiter>({
    burst: required(int),
    qps: required(float),
  });

/** A limit on requests. */
export interface RateLimiter {
  tokenBucketRateLimiter?: TokenBucketRateLimiter;
}

export const RateLimiterSchema: Schema<RateLimiter> = object<RateLimiter>({
  tokenBucketRateLimiter: TokenBucketRateLimiterSchema,
});

/** How a component talks to the API server. */
export interface RESTClientConfiguration {
  rateLimiter?: RateLimiter;
}

export const RESTClientConfigurationSchema: Schema<RESTClientConfiguration> =
  object<RESTClientConfiguration>({
    rateLimiter: RateLimiterSchema,
  });

/** Settings that a component applies without a restart. */
export interface ReloadableComponentConfiguration {
  restClient?: RESTClientConfiguration;
}

export const ReloadableComponentConfigurationSchema: Schema<ReloadableComponentConfiguration> =
  object<ReloadableComponentConfiguration>({
    restClient: RESTClientConfigurationSchema,
  });
