import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { LeaseState, Leases } from '../engine.js'
import { asking, type Database } from './database.js'
import { LIST_LEASES, RELEASE_LEASE, RENEW_LEASE, TAKE_LEASE } from './statements.js'

const leasesSchema = z.array(
  z.object({ name: z.string(), term: z.string(), holder: z.string(), expires_in_ms: z.number() }),
)

export function createLeases(database: Database): Leases {
  return {
    async take(lease, holder, ttlMs) {
      const fence = { lease, term: randomUUID() }
      const taken = await asking(database.query(TAKE_LEASE, [ttlMs, lease, fence.term, holder]))
      return taken.length === 1 ? fence : undefined
    },
    async renew({ lease, term }, ttlMs) {
      return (await asking(database.query(RENEW_LEASE, [ttlMs, lease, term]))).length === 1
    },
    async release({ lease, term }) {
      await asking(database.query(RELEASE_LEASE, [lease, term]))
    },
    list: () => asking(listLeases(database)),
  }
}

export async function listLeases(database: Database): Promise<LeaseState[]> {
  return leasesSchema
    .parse(await database.query(LIST_LEASES))
    .map(({ name, term, holder, expires_in_ms }) => ({
      lease: name,
      term,
      holder,
      expiresInMs: expires_in_ms,
    }))
}
