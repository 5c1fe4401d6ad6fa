/**
 * How long the guest may keep an address, in seconds: 999 days. A guest's address cannot change while its Pod
 * lives, so a renewal would only be an opportunity for something to go wrong.
 */
export const leaseSeconds: number = 999 * 24 * 60 * 60;
