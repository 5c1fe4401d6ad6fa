export type { Amount } from "./amount.ts";
export {
  parseQuantity,
  type QuantityFault,
  quantityFrom,
  readQuantity,
} from "./parse-quantity.ts";
export {
  fromBytes,
  newMilliQuantity,
  newQuantity,
  newScaledQuantity,
  Quantity,
} from "./quantity.ts";
export { maxQuantityExponent, type QuantityFormat } from "./suffix.ts";
export { unmarshalQuantity } from "./unmarshal-quantity.ts";
