import { type Empty, object, required, type Schema, string } from "../schema.ts";

/** Shared with virtiofs. */
export type FilesystemVirtiofs = Empty;

export const FilesystemVirtiofsSchema: Schema<FilesystemVirtiofs> = object<FilesystemVirtiofs>({});

/** A volume that is shared with the guest as a directory. */
export interface Filesystem {
  /** The volume's name, and the tag with which the guest mounts it. */
  name: string;
  virtiofs: FilesystemVirtiofs;
}

export const FilesystemSchema: Schema<Filesystem> = object<Filesystem>({
  name: required(string),
  virtiofs: required(FilesystemVirtiofsSchema),
});
