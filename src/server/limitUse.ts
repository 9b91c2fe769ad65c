// How near this server has come to its limits (docs/scaling.md), whoever used them, and one client, account or institution to its own.
const LIMITS = [
  'rate',
  'node-calls',
  'turns',
  'at-once',
  'connections',
  'envelopes',
  'openings',
  'account-gas',
  'institution-gas',
  'all-turns',
  'all-at-once',
  'all-connections',
  'relay-connections',
  'arriving',
  'relay-openings',
  'relay-others',
] as const
export type Limit = (typeof LIMITS)[number]

/** The highest shares since this process began. */
const highest = new Map<Limit, number>(LIMITS.map((limit) => [limit, 0]))

/** Notes what is used of a limit. */
export function noteUse(limit: Limit, share: number): void {
  if (share > (highest.get(limit) ?? 0)) highest.set(limit, share)
}

/** The highest share that was used of each limit. */
export const highestShares = () => [...highest]
