export { createRateLimiter, type RateLimiter, type RateLimiterOptions } from "./rate-limiter.ts";
export { type Priority, WorkQueue, type WorkQueueOptions } from "./work-queue.ts";
