/** An element that the model has no type for, as it stands in XML. */
export interface XmlElement {
  name: string;
  attributes?: Readonly<Record<string, string>> | undefined;
  /** Text and elements in their order. */
  children?: readonly (XmlElement | string)[] | undefined;
}

/** Attributes and elements beyond those of the model; they are written after the model's own. */
export interface XmlExtra {
  attributes?: Readonly<Record<string, string>> | undefined;
  children?: readonly XmlElement[] | undefined;
}

/** Every element of the model can carry what the model does not know. */
export interface Extensible {
  extra?: XmlExtra | undefined;
}
