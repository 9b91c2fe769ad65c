import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { post, registerFast } from './relay.js'
import { startHelper } from './support/childProcess.js'
import type { BenchContext, Figure } from './support/figure.js'
import { BENCH_DIRECTORY } from './support/platform.js'
import { type RelayChain, startRelayChain } from './support/relayChain.js'
import { startRelayServer } from './support/relayServer.js'

const BLOCK_SECONDS = 1
const IN_FLIGHT = 64
/** Of each account, in one round. */
const BLOCKS = 8
/** More than all accounts have room for, so that each always has its next transaction. */
const CALLERS = 512
const ACCOUNTS = [1, 2, 4]

/** What one server relays with one account, two and four, where the blocks are what bounds each of them. */
export const accounts: Figure = {
  name: 'accounts',
  title: 'POST /relay by accounts',
  async measure(context) {
    registerFast()
    const chain = await startRelayChain(BLOCK_SECONDS)
    try {
      const rows: { accounts: number; perSecond: number }[] = []
      for (const count of ACCOUNTS) {
        rows.push({ accounts: count, perSecond: await rateWith(chain, count, context) })
      }
      const notes = [
        `blocks of ${BLOCK_SECONDS} s, ${IN_FLIGHT} in flight of each account, ${CALLERS} callers`,
      ]
      return { kind: 'accounts' as const, rows, notes }
    } finally {
      await chain.stop()
    }
  },
}

async function rateWith(
  chain: RelayChain,
  count: number,
  { nodeOptions, print }: BenchContext,
): Promise<number> {
  const directory = join(BENCH_DIRECTORY, `accounts-${Date.now()}`)
  const keys = chain.relayers.slice(0, count).map(({ privateKey }) => privateKey)
  const settings = {
    RELAYER_PRIVATE_KEY: '',
    RELAYER_PRIVATE_KEYS: keys.join(','),
    RELAY_MAX_IN_FLIGHT: `${IN_FLIGHT}`,
  }
  const ours = await startRelayServer(chain, { directory, callers: CALLERS, nodeOptions, settings })
  const generator = startHelper('./loadGenerator.ts')
  const headers = { authorization: `Bearer ${chain.secrets.relayAuthToken}` }
  try {
    const { perSecond } = await post(
      { chain, ours, generator, headers },
      ours,
      count * IN_FLIGHT * BLOCKS,
      CALLERS,
    )
    print(`  ${count}: ${perSecond.toFixed(0)} a second`)
    return perSecond
  } finally {
    await Promise.all([ours.stop(), generator.stop()])
    await rm(directory, { recursive: true })
  }
}
