/** What its holder needs to identify itself and to verify others: plain data, to be passed on unchanged. */
export interface Credentials {
  /** As PEM. */
  readonly certificate: string;
  /** As PEM (PKCS #8). */
  readonly privateKey: string;
  /** The trusted certificates as PEM, one after the other. */
  readonly authorities: string;
}
