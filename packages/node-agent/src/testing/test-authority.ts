import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CertificateAuthority,
  type Credentials,
  FileAuthorityStore,
  type Identity,
} from "@virtkit/pki";

/** Issues certificates of one trust domain for a test. */
export type TestAuthority = Disposable & {
  issue(identity: Identity): Promise<Credentials>;
};

/** An authority in its own directory. Two of them do not trust each other. */
export async function testAuthority(): Promise<TestAuthority> {
  const directory = mkdtempSync(join(tmpdir(), "guest-server-"));
  const store = new FileAuthorityStore(directory);
  const authority = await CertificateAuthority.open({ store, trustDomain: "test.example" });
  return {
    issue: (identity) => authority.issue(identity),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
