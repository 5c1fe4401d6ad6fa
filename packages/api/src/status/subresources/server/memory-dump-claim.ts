import { Quantity, readQuantity } from "../../../quantity/index.ts";
import { at, isSet, text } from "../../../shape.ts";
import { conflict, internalError, type Refusal } from "../outcome.ts";
import { nameOf } from "../state-change.ts";

const mebibyte = 1024 * 1024;
/** The size of a dump in addition to the guest's memory. */
const dumpOverhead = 100 * mebibyte;
/** CDI's default for the part of a file system that it does not use. */
const defaultOverhead = "0.055";

/**
 * Why a claim cannot take the dump of a guest. The size counts the memory that the VMI requests, as in
 * KubeVirt.
 */
export function memoryDumpClaimFault(
  vmi: unknown,
  claim: unknown,
  cdiConfig: unknown,
): Refusal | undefined {
  const name = nameOf(claim);
  const refuse = (why: string): Refusal => conflict("persistentvolumeclaim", name, why);
  if (at(claim, "spec", "volumeMode") === "Block") {
    return refuse("its volumeMode is Block; a dump needs a file system");
  }
  const modes = at(claim, "spec", "accessModes");
  if (Array.isArray(modes) && modes.length > 0 && modes.every((mode) => mode === "ReadOnlyMany")) {
    return refuse("it is read-only");
  }
  const overhead = overheadOf(claim, cdiConfig);
  if (!Number.isFinite(overhead)) {
    return internalError("status.filesystemOverhead of CDI's configuration is not a number");
  }
  const size = bytesOf(at(claim, "spec", "resources", "requests", "storage"));
  const memory = bytesOf(at(vmi, "spec", "domain", "resources", "requests", "memory"));
  const needed = Math.ceil(((memory + dumpOverhead) * (1 + overhead)) / mebibyte) * mebibyte;
  // KubeVirt counts the claim in thousands of bytes, rounded up.
  return Math.ceil(size / 1000) * 1000 < needed
    ? refuse(`it has ${size} bytes, but the dump needs ${needed}`)
    : undefined;
}

function overheadOf(claim: unknown, cdiConfig: unknown): number {
  if (!isSet(cdiConfig)) return Number(defaultOverhead);
  const overheads = at(cdiConfig, "status", "filesystemOverhead");
  const storageClass = text(at(claim, "spec", "storageClassName"));
  const own = storageClass ? at(overheads, "storageClass", storageClass) : undefined;
  const share = text(own ?? at(overheads, "global"));
  return share === "" ? Number.NaN : Number(share);
}

function bytesOf(quantity: unknown): number {
  const read = readQuantity(typeof quantity === "number" ? String(quantity) : text(quantity));
  return read instanceof Quantity ? Number(read.value()) : 0;
}
