import { type Eip1193Provider, type LogListing, readLogs } from '../../src/client/index.js'
import type { Ask } from '../query.js'
import type { Settings } from '../settings.js'
import { contractsOf } from './contracts.js'
import { once } from './once.js'
import { createTail } from './tail.js'

const SHOWN = 100

/** Reads the five contracts' newest events, and then those that appear. */
export function createEventsReader(provider: Eip1193Provider, { pins, chain }: Settings): Ask<LogListing> {
  const begun = once(async () => {
    const addresses = Object.values(await contractsOf(provider, pins.escrow))
    const bounds = { fromBlock: chain.firstBlock, limit: SHOWN }
    return createTail<LogListing>((options) => readLogs(provider, { addresses }, { ...bounds, ...options }))
  })
  return async (signal, report) => (await begun())(signal, report)
}
