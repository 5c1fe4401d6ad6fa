/** What its holder needs to show who it is and to check others: plain data, to be handed over as it is. */
export interface Credentials {
  /** As PEM. */
  readonly certificate: string;
  /** As PEM (PKCS #8). */
  readonly privateKey: string;
  /** Who is trusted: certificates as PEM, one after the other. */
  readonly authorities: string;
}
