export {
  type CrdOptions,
  type CrdVersion,
  type CustomResourceDefinition,
  crds,
  type PrinterColumn,
  type Subresources,
} from "./crds.ts";
export { type StructuralSchema, structuralSchema } from "./structural-schema.ts";
