// How near a client, account or institution has come to a limit that each has for itself (docs/scaling.md), whichever it was.
const LIMITS = [
  'rate',
  'node-calls',
  'at-once',
  'connections',
  'envelopes',
  'openings',
  'account-gas',
  'institution-gas',
] as const
export type OwnLimit = (typeof LIMITS)[number]

/** The highest shares since this process began. */
const highest = new Map<OwnLimit, number>(LIMITS.map((limit) => [limit, 0]))

/** Notes what one of them has used of its limit. */
export function noteUse(limit: OwnLimit, share: number): void {
  if (share > (highest.get(limit) ?? 0)) highest.set(limit, share)
}

/** The highest share that one of them has used, for each limit. */
export const highestShares = () => [...highest]
