import { countedOf } from './rateLimit.js'

/**
 * Counts what clients, and their sites, hold at once: connections, or places of requests under way.
 * @param maxPerClient how many one client (`clientOf`) may hold
 * @param max how many all may hold: a site has half of them at most, or as many as one client
 */
export function createShares(maxPerClient: number, max: number) {
  const maxPerSite = Math.max(maxPerClient, Math.floor(max / 2))
  const held = new Map<string, number>()

  function change(client: string, by: 1 | -1): void {
    for (const { key } of countedOf(client)) {
      const count = (held.get(key) ?? 0) + by
      if (count === 0) held.delete(key)
      else held.set(key, count)
    }
  }

  return {
    hasRoom: (client: string) =>
      countedOf(client).every(
        ({ key, clients }) => (held.get(key) ?? 0) < Math.min(clients * maxPerClient, maxPerSite),
      ),
    /** @returns gives it back; to be called once */
    take(client: string): () => void {
      change(client, 1)
      return () => change(client, -1)
    },
  }
}
