/** The kind of a {@link ConverterError}, for programs. */
export type ConverterErrorCode =
  /** The VMI asks for something that no domain can express, or lacks something that is needed. */
  | "CONVERTER_VMI_INVALID"
  /** The VMI has the wrong shape, for example a list instead of an object. */
  | "CONVERTER_VMI_MALFORMED"
  /** The node or the cluster lacks something that the VMI needs. */
  | "CONVERTER_CONTEXT_INVALID"
  /** A hook threw an error, or returned something that is not a domain. */
  | "CONVERTER_HOOK_FAILED"
  /** A value cannot be written in XML. */
  | "CONVERTER_XML_INVALID"
  /** A document is not XML, or not a domain. */
  | "CONVERTER_XML_MALFORMED";

/** Details of a {@link ConverterError}. */
export interface ConverterErrorOptions extends ErrorOptions {
  /** Field of the VMI (`spec.domain.devices.disks[0]`), of the context, or of the domain. */
  readonly path?: string;
  /** Line of a document, from 1. */
  readonly line?: number;
  /** Column in that line, from 1. */
  readonly column?: number;
}

/** The error class of this package. The message names the field, what was found, and what to do. */
export class ConverterError extends Error {
  override readonly name = "ConverterError";
  readonly code: ConverterErrorCode;
  readonly path: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(
    code: ConverterErrorCode,
    message: string,
    { path, line, column, ...options }: ConverterErrorOptions = {},
  ) {
    const place = path ?? (line === undefined ? undefined : `line ${line}, column ${column}`);
    super(place === undefined ? message : `${place}: ${message}`, options);
    this.code = code;
    this.path = path;
    this.line = line;
    this.column = column;
  }
}

/**
 * Whether a caught value is a {@link ConverterError}. Checked by name, so it also works across two copies of this
 * package.
 */
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
