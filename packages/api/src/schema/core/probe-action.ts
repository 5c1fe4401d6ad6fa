import { type IntOrString, IntOrStringSchema } from "../int-or-string.ts";
import {
  array,
  type OpenEnum,
  object,
  openEnum,
  required,
  type Schema,
  string,
} from "../schema.ts";

/** A command to run; its exit code is the result. */
export interface ExecAction {
  /** The program and its arguments; there is no shell. */
  command?: string[];
}

export const ExecActionSchema: Schema<ExecAction> = object<ExecAction>({
  command: array(string, { listType: "atomic" }),
});

/** A header of the request. */
export interface HTTPHeader {
  name: string;
  value: string;
}

export const HTTPHeaderSchema: Schema<HTTPHeader> = object<HTTPHeader>({
  name: required(string),
  value: required(string),
});

/** How the request is sent. */
export type URIScheme = OpenEnum<typeof URISchemeValues>;
export const URISchemeValues = ["HTTP", "HTTPS"] as const;
export const URISchemeSchema: Schema<URIScheme> = openEnum(URISchemeValues);

/** An HTTP request; a status from 200 to 399 is success. */
export interface HTTPGetAction {
  /** The guest if absent. */
  host?: string;
  httpHeaders?: HTTPHeader[];
  path?: string;
  /** A number from 1 to 65535, or a port's name. */
  port: IntOrString;
  scheme?: URIScheme;
}

export const HTTPGetActionSchema: Schema<HTTPGetAction> = object<HTTPGetAction>({
  host: string,
  httpHeaders: array(HTTPHeaderSchema, { listType: "atomic" }),
  path: string,
  port: required(IntOrStringSchema),
  scheme: URISchemeSchema,
});

/** A connection that must open. */
export interface TCPSocketAction {
  host?: string;
  /** A number from 1 to 65535, or a port's name. */
  port: IntOrString;
}

export const TCPSocketActionSchema: Schema<TCPSocketAction> = object<TCPSocketAction>({
  host: string,
  port: required(IntOrStringSchema),
});
