import type { XmlElement } from "../model/extensible.ts";
import { addTree } from "./add-tree.ts";

/** Writes a tree that `readDocument` has read, indented by two spaces. Its content is not checked. */
export function writeDocument(root: XmlElement): string {
  return `${addTree("", root, 0)}\n`;
}
