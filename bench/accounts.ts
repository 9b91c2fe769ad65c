import { relayAll } from './relay.js'
import { type Figure, ratio, type Turn } from './support/figure.js'
import { startServerBeside } from './support/platform.js'
import { startRelayChain } from './support/relayChain.js'

const BLOCK_SECONDS = 1
/** The default of RELAY_MAX_IN_FLIGHT. */
const IN_FLIGHT = 64
/** Blocks' worth of transactions that each account relays in one round. */
const BLOCKS = 8
const ACCOUNTS = [1, 2, 4]

/** The rate of one server with one account, two and four, where the blocks bound each of them. */
export const accounts: Figure = {
  name: 'accounts',
  title: 'POST /relay by accounts',
  async prepare(context) {
    const chain = await startRelayChain(context, BLOCK_SECONDS)
    const left = [...chain.anvil.accounts]
    const rows: Record<string, Turn> = {}
    for (const count of ACCOUNTS) {
      const server = await startServerBeside(context, chain.settings(left.splice(0, count)))
      const nextWrites = await chain.portfolios(count * IN_FLIGHT * BLOCKS)
      rows[`${count}`] = () => relayAll(chain, context.generator.loadAll, server, nextWrites())
    }
    return {
      rows,
      bars: [
        ratio('requests/s', '2', '1', { atLeast: 1.9 }),
        ratio('requests/s', '4', '1', { atLeast: 3.6 }),
      ],
      notes: [`blocks of ${BLOCK_SECONDS} s, ${IN_FLIGHT} in flight of each account`],
    }
  },
}
