import {
  newMilliQuantity,
  newQuantity,
  newScaledQuantity,
  parseQuantity,
  type Quantity,
  type QuantityFault,
  type QuantityFormat,
  unmarshalQuantity,
} from "@virtkit/api/quantity";
import type { BatchFunction } from "../batch/batch-area.ts";
import { goFloatText } from "./go-float-text.ts";
import { integerField, stringField } from "./input-fields.ts";

/** Every function of `@virtkit/api/quantity`. Numbers of 64 bits travel as decimal text. */
export const functions: Readonly<Record<string, BatchFunction>> = {
  parse: answering((input) => describe(parseQuantity(stringField(input, "text")))),
  unmarshalJSON: answering((input) => {
    const quantity = unmarshalQuantity(stringField(input, "json"));
    return { ...describe(quantity), marshalled: JSON.stringify(quantity) };
  }),
  add: answering((input) => describe(operand(input, "a").add(operand(input, "b")))),
  sub: answering((input) => describe(operand(input, "a").sub(operand(input, "b")))),
  neg: answering((input) => describe(operand(input, "a").neg())),
  cmp: answering((input) => {
    const cmp = operand(input, "a").cmp(operand(input, "b"));
    return { cmp, equal: cmp === 0 };
  }),
  mul: answering((input) => {
    const product = operand(input, "a").mul(integerField(input, "factor"));
    const { decimal, mantissa } = product.amount;
    return { ...describe(product), mulReturned: !decimal || fitsInt64(mantissa) };
  }),
  roundUp: answering((input) => {
    const quantity = operand(input, "a");
    const rounded = quantity.roundUp(Number(integerField(input, "scale")));
    return { ...describe(rounded), exact: rounded.equals(quantity) };
  }),
  scaledValue: answering((input) => {
    const scaled = scale(operand(input, "a"), Number(integerField(input, "scale")));
    return { scaledValue: scaled.text, inRange: scaled.inRange };
  }),
  newQuantity: answering((input) =>
    describe(newQuantity(integerField(input, "value"), format(input))),
  ),
  newMilliQuantity: answering((input) =>
    describe(newMilliQuantity(integerField(input, "value"), format(input))),
  ),
  newScaledQuantity: answering((input) => {
    const value = integerField(input, "value");
    return describe(newScaledQuantity(value, Number(integerField(input, "scale"))));
  }),
};

/** What Kubernetes also refuses; a string that is only too large for us has no answer. */
const answered: ReadonlySet<unknown> = new Set<QuantityFault>([
  "API_QUANTITY_SHAPE",
  "API_QUANTITY_SUFFIX",
  "API_QUANTITY_DIGITS",
]);

/** A text that is not a quantity is an answer, `{ error }`; any other failure stays a failure. */
function answering(run: (input: unknown) => unknown): BatchFunction {
  return (input) => {
    try {
      return run(input);
    } catch (cause) {
      const { code, message } = Object(cause) as { code?: unknown; message?: string };
      if (!answered.has(code)) throw cause;
      return { error: message };
    }
  };
}

function operand(input: unknown, name: string): Quantity {
  return parseQuantity(stringField(input, name));
}

function format(input: unknown): QuantityFormat {
  return stringField(input, "format") as QuantityFormat;
}

function describe(quantity: Quantity): Record<string, unknown> {
  const value = scale(quantity, 0);
  const milliValue = scale(quantity, -3);
  return {
    string: quantity.toString(),
    canonical: quantity.canonical(),
    value: value.text,
    valueInRange: value.inRange,
    milliValue: milliValue.text,
    milliValueInRange: milliValue.inRange,
    asInt64: quantity.asInt64()?.toString() ?? null,
    asDec: quantity.toDecimalText(),
    approximateFloat64: goFloatText(quantity.approximateFloat64()),
    sign: quantity.sign(),
    isZero: quantity.isZero(),
    format: quantity.format,
  };
}

/** The scaled value, and whether the exact number fits into 64 bits. */
function scale(quantity: Quantity, power: number): { text: string; inRange: boolean } {
  const { mantissa, scale } = quantity.roundUp(power).amount;
  const exact = BigInt(mantissa) * 10n ** BigInt(Math.max(scale - power, 0));
  return { text: quantity.scaledValue(power).toString(), inRange: fitsInt64(exact) };
}

function fitsInt64(value: number | bigint): boolean {
  const integer = BigInt(value);
  return integer === BigInt.asIntN(64, integer);
}
