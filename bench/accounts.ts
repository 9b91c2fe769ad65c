import { relayAll } from './relay.js'
import type { Figure } from './support/figure.js'
import { startRelayChain, withRelay } from './support/relayPlatform.js'
import { spreadOf } from './support/statistics.js'

const BLOCK_SECONDS = 1
const IN_FLIGHT = 64
/** Blocks' worth of transactions that each account relays in one round. */
const BLOCKS = 8
/** More than all accounts have room for, so that each always has its next transaction. */
const CALLERS = 512
const ACCOUNTS = [1, 2, 4]
/** By so many accounts, in times of the rate of one. */
const BARS: Readonly<Record<number, number>> = { 2: 1.9, 4: 3.6 }

/** The rate of one server with one account, two and four, where the blocks bound each of them. */
export const accounts: Figure = {
  name: 'accounts',
  title: 'POST /relay by accounts',
  async measure(context) {
    const chain = await startRelayChain(BLOCK_SECONDS)
    const rates = new Map<number, number>()
    try {
      for (const count of ACCOUNTS) {
        const keys = chain.relayers.slice(0, count).map(({ privateKey }) => privateKey)
        const settings = {
          RELAYER_PRIVATE_KEY: '',
          RELAYER_PRIVATE_KEYS: keys.join(','),
          RELAY_MAX_IN_FLIGHT: `${IN_FLIGHT}`,
        }
        const { perSecond } = await withRelay(chain, context, { callers: CALLERS, settings }, (platform) =>
          relayAll(platform, platform.server, count * IN_FLIGHT * BLOCKS, CALLERS),
        )
        rates.set(count, perSecond)
      }
    } finally {
      await chain.stop()
    }
    const [[, one] = [1, Number.NaN], ...others] = rates
    const bars = others.map(([count, perSecond]) => {
      const limit = BARS[count]
      const value = spreadOf([perSecond / one])
      return { what: `${count} accounts ÷ one`, value, ...(limit !== undefined && { atLeast: limit }) }
    })
    return {
      rows: [...rates].map(([count, perSecond]) => ({
        what: `${count}`,
        cells: { 'requests/s': perSecond },
      })),
      bars,
      notes: [
        `one round, blocks of ${BLOCK_SECONDS} s, ${IN_FLIGHT} in flight of each account, ${CALLERS} callers`,
      ],
    }
  },
}
