/** A scalar that is written as an attribute of its element. */
export interface AttributeField<V extends Scalar = Scalar> {
  readonly kind: "attribute";
  readonly type: TypeName<V>;
  readonly name: string | undefined;
}

/** A scalar that is the text of its element. */
export interface TextField<V extends Scalar = Scalar> {
  readonly kind: "text";
  readonly type: TypeName<V>;
}

/** A scalar that is the text of its own child element: `<serial>x</serial>`. */
export interface LeafField<V extends Scalar = Scalar> {
  readonly kind: "leaf";
  readonly type: TypeName<V>;
  readonly name: string | undefined;
}

/** An empty child element, present or not: `<readonly/>`. */
export interface FlagField {
  readonly kind: "flag";
  readonly name: string | undefined;
}

/** One child element. */
export interface ChildField<T> {
  readonly kind: "child";
  readonly element: ElementType<T>;
  readonly name: string | undefined;
}

/** Any number of child elements of one name. */
export interface ChildrenField<T> {
  readonly kind: "children";
  readonly element: ElementType<T>;
  readonly name: string;
}

/** What an attribute or text can hold; a bigint only for whole numbers above 2^53. */
export type Scalar = string | number | bigint;

type TypeName<V> = V extends string ? "string" : "number";

/** The field that fits a property of type `V`. */
type FieldOf<V> = V extends readonly (infer E)[]
  ? ChildrenField<E>
  : V extends true
    ? FlagField
    : V extends string
      ? AttributeField<string> | TextField<string> | LeafField<string>
      : V extends number | bigint
        ? AttributeField<number> | TextField<number> | LeafField<number>
        : ChildField<V>;

/** Whether every object of the type has the property; a parser fills in what a document lacks. */
interface Presence<R extends boolean = boolean> {
  readonly required: R;
}

type Optional<F> = F & Presence<false>;

/** A field for every property of `T`, in the order in which they are written. */
export type Fields<T> = {
  readonly [K in Exclude<keyof T, "extra">]-?: [FieldOf<NonNullable<T[K]>>] extends [infer F]
    ? F & Presence<undefined extends T[K] ? false : true>
    : never;
};

/** A field of any kind, for code that walks over them. */
export type AnyField = Presence &
  (
    | AttributeField
    | TextField
    | LeafField
    | FlagField
    | {
        readonly kind: "child";
        readonly element: AnyElementType;
        readonly name: string | undefined;
      }
    | { readonly kind: "children"; readonly element: AnyElementType; readonly name: string }
  );

/** An element type of whatever object, for code that walks over them. */
export interface AnyElementType {
  readonly fields: readonly (readonly [key: string, field: AnyField])[];
}

/**
 * How an object of the model is written as XML and read back: one table serves the writer, the parser and
 * everything else that walks over a domain. The fields are created on first use, so that types may refer to
 * each other and to themselves.
 */
export class ElementType<T> {
  readonly #make: () => Fields<T>;
  #fields: readonly (readonly [key: string, field: AnyField])[] | undefined;

  constructor(make: () => Fields<T>) {
    this.#make = make;
  }

  /** The fields with the property each belongs to, in the order in which they are written. */
  get fields(): readonly (readonly [key: string, field: AnyField])[] {
    this.#fields ??= Object.entries(this.#make()) as [string, AnyField][];
    return this.#fields;
  }
}

/** Declares an element; every property of `T` must have a field of the right kind. */
export function element<T>(make: () => Fields<NoInfer<T>>): ElementType<T> {
  return new ElementType(make);
}

/** A string as an attribute, named like the property by default. */
export function attribute(name?: string): Optional<AttributeField<string>> {
  return { kind: "attribute", type: "string", name, required: false };
}

/** A whole number as an attribute. */
export function numberAttribute(name?: string): Optional<AttributeField<number>> {
  return { kind: "attribute", type: "number", name, required: false };
}

/** A string as the text of the element. */
export function text(): Optional<TextField<string>> {
  return { kind: "text", type: "string", required: false };
}

/** A whole number as the text of the element. */
export function numberText(): Optional<TextField<number>> {
  return { kind: "text", type: "number", required: false };
}

/** A string as the text of a child element. */
export function leaf(name?: string): Optional<LeafField<string>> {
  return { kind: "leaf", type: "string", name, required: false };
}

/** A whole number as the text of a child element. */
export function numberLeaf(name?: string): Optional<LeafField<number>> {
  return { kind: "leaf", type: "number", name, required: false };
}

/** An empty child element that is present if the property is `true`. */
export function flag(name?: string): Optional<FlagField> {
  return { kind: "flag", name, required: false };
}

/** A child element. */
export function child<T>(type: ElementType<T>, name?: string): Optional<ChildField<T>> {
  return { kind: "child", element: type, name, required: false };
}

/** A list of child elements, each called `name`. */
export function children<T>(name: string, type: ElementType<T>): Optional<ChildrenField<T>> {
  return { kind: "children", element: type, name, required: false };
}

/** Marks the field of a property that every object of the type has. */
export function required<F extends Presence<false>>(
  field: F,
): Omit<F, "required"> & Presence<true> {
  return { ...field, required: true };
}
