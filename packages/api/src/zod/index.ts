export { type ZodSchemaOptions, zodSchema } from "./zod-schema.ts";
