import type { XmlElement } from "../model/extensible.ts";
import { addTree } from "./add-tree.ts";

/** Writes a tree that `readDocument` has read, indented by two spaces. What is in it is taken as it stands. */
export function writeDocument(root: XmlElement): string {
  return `${addTree("", root, 0)}\n`;
}
