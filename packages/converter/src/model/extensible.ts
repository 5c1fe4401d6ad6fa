/** An unknown element, as it stands in XML. */
export interface XmlElement {
  name: string;
  attributes?: Readonly<Record<string, string>> | undefined;
  /** Text and elements in their order. */
  children?: readonly (XmlElement | string)[] | undefined;
}

/** Attributes and elements beyond those of the model; they are written after the model's own. */
export interface XmlExtra {
  attributes?: Readonly<Record<string, string>> | undefined;
  /** Text occurs only where an element should have none; white space around it is dropped. */
  children?: readonly (XmlElement | string)[] | undefined;
  /**
   * What an element that the model holds as a plain value has in addition, by property: `fallback` of
   * `<model fallback="forbid">qemu64</model>` is `{ model: { attributes: { fallback: "forbid" } } }`.
   */
  inner?: Readonly<Record<string, XmlInner>> | undefined;
  /**
   * Properties that the type requires but the document does not have. They have an empty value, and are not
   * written while they do.
   */
  implied?: readonly string[] | undefined;
}

/** The content of an element. */
export interface XmlInner {
  attributes?: Readonly<Record<string, string>> | undefined;
  children?: readonly (XmlElement | string)[] | undefined;
}

/** Every element of the model can carry unknown parts. */
export interface Extensible {
  extra?: XmlExtra | undefined;
}
