import type { Path } from "@virtkit/api/schema";
import type { ManifestDocument } from "@virtkit/node-agent/manifests";
import { fieldPath } from "./field-path.ts";
import { place } from "./place.ts";

/** A line for stderr about a field of a document: its place, and what is wrong. */
export function complaint(document: ManifestDocument, path: Path, message: string): string {
  return `${place({ source: document.source, ...document.position(path) })}: ${message}\n`;
}

/**
 * The line for an error of one of the packages, which name the field in `path`. A VirtualMachine's errors are
 * about the VMI that is made from it: their fields are in its template.
 */
export function complaintOf(document: ManifestDocument, error: unknown, hint = ""): string {
  const { path, message } = Object(error) as { path?: unknown; message?: unknown };
  const { kind } = Object(document.value) as { kind?: unknown };
  const steps = typeof path === "string" ? fieldPath(path) : [];
  const isInTemplate = kind === "VirtualMachine" && steps[0] === "spec";
  const field = isInTemplate ? ["spec", "template", ...steps] : steps;
  return complaint(document, field, `${String(message)}${hint}`);
}

const errorsOfPackages: ReadonlySet<string> = new Set([
  "ApiError",
  "ConverterError",
  "LauncherPodError",
]);

/** Whether an error is about the input, so that other objects may still be processed. */
export function isAboutInput(error: unknown): boolean {
  return error instanceof Error && errorsOfPackages.has(error.name);
}
