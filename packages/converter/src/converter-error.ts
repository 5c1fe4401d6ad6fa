/** What went wrong, for programs. */
export type ConverterErrorCode =
  /** The VMI asks for something that no domain can express, or leaves out what one needs. */
  | "CONVERTER_VMI_INVALID"
  /** The VMI is not shaped like one: a list where an object belongs, say. */
  | "CONVERTER_VMI_MALFORMED"
  /** The node or the cluster does not have what the VMI needs. */
  | "CONVERTER_CONTEXT_INVALID"
  /** A value cannot be written in XML. */
  | "CONVERTER_XML_INVALID";

/** Details of a {@link ConverterError}. */
export interface ConverterErrorOptions extends ErrorOptions {
  /** Field of the VMI (`spec.domain.devices.disks[0]`), of the context, or of the domain. */
  readonly path?: string;
}

/** The one error class of this package. The message names the field, what was found, and what to do. */
export class ConverterError extends Error {
  override readonly name = "ConverterError";
  readonly code: ConverterErrorCode;
  readonly path: string | undefined;

  constructor(
    code: ConverterErrorCode,
    message: string,
    { path, ...options }: ConverterErrorOptions = {},
  ) {
    super(path === undefined ? message : `${path}: ${message}`, options);
    this.code = code;
    this.path = path;
  }
}

/** Whether a caught value is a {@link ConverterError}; by name, so that two copies of this package agree. */
export function isConverterError(value: unknown): value is ConverterError {
  return value instanceof Error && value.name === "ConverterError";
}

/** An error about a field of the VMI. */
export function invalidVmi(path: string, message: string): ConverterError {
  return new ConverterError("CONVERTER_VMI_INVALID", message, { path });
}

/** An error about what the node or the cluster has. */
export function invalidContext(path: string, message: string): ConverterError {
  return new ConverterError("CONVERTER_CONTEXT_INVALID", message, { path });
}
