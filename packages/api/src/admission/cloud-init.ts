import type { CloudInitNoCloudSource, Volume } from "../schema/index.ts";
import { base64Length } from "./base64.ts";
import { type Cause, fine, invalid, join } from "./cause.ts";
import { utf8Length } from "./kubernetes-name.ts";

/** Longer data must come from a Secret: the object is copied too often to carry it. */
const mostBytes = 2048;

/** A cloud-init volume has data, each part from one source, and not too long. */
export function cloudInit(volume: Volume, at: string): readonly Cause[] {
  const kind = volume.cloudInitNoCloud ? "cloudInitNoCloud" : "cloudInitConfigDrive";
  const source = volume[kind];
  if (!source) return fine;
  const field = `${at}.${kind}`;
  const user = data(source, "userData", field);
  const network = data(source, "networkData", field);
  return join(
    user.causes,
    network.causes,
    user.sources + network.sources > 0
      ? fine
      : invalid(field, "has neither user data nor network data; set userData or networkData"),
  );
}

type DataName = "userData" | "networkData";

function data(
  source: CloudInitNoCloudSource,
  name: DataName,
  field: string,
): { sources: number; causes: readonly Cause[] } {
  const secret = name === "userData" ? "secretRef" : "networkDataSecretRef";
  const encoded = source[`${name}Base64`];
  const plain = source[name];
  const sources = [source[secret]?.name, encoded, plain].filter(Boolean).length;
  const decoded = encoded ? base64Length(encoded) : { valid: true, bytes: 0 };
  const bytes = plain ? utf8Length(plain) : decoded.bytes;
  return {
    sources,
    causes: join(
      decoded.valid ? fine : invalid(`${field}.${name}Base64`, "is not base64; encode it again"),
      sources > 1
        ? invalid(field, `has ${sources} of ${name}, ${name}Base64, ${secret}; keep one`)
        : fine,
      bytes > mostBytes
        ? invalid(field, `has ${bytes} bytes of ${name}, at most ${mostBytes} fit; use ${secret}`)
        : fine,
    ),
  };
}
