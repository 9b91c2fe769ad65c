import type { JsonRpcProvider } from 'ethers'
import {
  type Client,
  createClient,
  type HistoryEntry,
  type HistoryOptions,
} from '../../../src/client/index.js'
import type { Hex } from '../../../src/protocol/hex.js'
import type { TestChain } from '../../support/chain.js'
import type { Role } from '../../support/roles.js'
import { walletOf } from '../clientSetting.js'

/** No server listens there: with a pinned escrow, a history needs none. */
const NO_SERVER = 'http://127.0.0.1:1'

/** A client with the wallet of a role and these drawn keys, the last one drawn first. */
export async function historyClient(
  chain: TestChain,
  privateKeys: readonly Hex[] = [],
  { role = 'alice', provider }: { role?: Role; provider?: JsonRpcProvider } = {},
): Promise<Client> {
  const client = createClient({
    serverUrl: NO_SERVER,
    signer: walletOf(chain, role, provider),
    pins: { escrow: chain.addressOf('escrow') },
  })
  const keys = privateKeys.map((privateKey, index) => ({
    privateKey,
    drawnAt: 1_000 - index,
    portfolioVersion: '0',
  }))
  if (keys.length > 0) await client.importKeys(JSON.stringify({ v: 1, account: chain.account(role), keys }))
  return client
}

export async function readAll(client: Client, options?: HistoryOptions): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = []
  for await (const entry of client.history({ confirmations: 1, ...options })) entries.push(entry)
  return entries
}

export const kindsOf = (entries: readonly HistoryEntry[]) => entries.map(({ kind }) => kind)
