/**
 * How long an address is the guest's, in seconds: 999 days. The address cannot change under a guest
 * as long as its Pod lives, so a renewal would only be a moment in which something can go wrong.
 */
export const leaseSeconds: number = 999 * 24 * 60 * 60;
