export { Reflector } from "./reflector.ts";
export type { ReflectorEvent } from "./reflector-event.ts";
export type { ReflectorOptions } from "./reflector-options.ts";
export { withoutManagedFields } from "./without-managed-fields.ts";
