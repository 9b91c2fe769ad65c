import type { JsonRpcProvider, Signer } from 'ethers'
import { onTestFinished } from 'vitest'
import { getHistory, type HistoryEntry, type HistoryOptions } from '../../../src/client/history.js'
import { type Client, createClient } from '../../../src/client/index.js'
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
  {
    role = 'alice',
    provider,
    signer = walletOf(chain, role, provider),
  }: { role?: Role; provider?: JsonRpcProvider; signer?: Signer } = {},
): Promise<Client> {
  const client = createClient({
    serverUrl: NO_SERVER,
    wallet: signer,
    pins: { escrow: chain.addressOf('escrow') },
    allowUnattested: true,
  })
  const of = { portfolioVersion: '0' }
  const keys = privateKeys.map((privateKey, index) => ({ ...of, privateKey, drawnAt: 1_000 - index }))
  if (keys.length > 0) await client.importKeys(JSON.stringify({ v: 1, account: chain.account(role), keys }))
  return client
}

export async function readAll(client: Client, options?: HistoryOptions): Promise<readonly HistoryEntry[]> {
  return (await getHistory(client, { confirmations: 1, ...options })).entries
}

export const kindsOf = (entries: readonly HistoryEntry[]) => entries.map(({ kind }) => kind)

/** Until the test ends, answers of the node go through `change`, which may ask the node by itself. */
export function changeAnswers(
  { provider }: TestChain,
  change: (answer: unknown, method: string, params: unknown[]) => unknown,
): void {
  const send = provider.send.bind(provider)
  onTestFinished(() => {
    provider.send = send
  })
  provider.send = async (method, params) => change(await send(method, params), method, [params].flat())
}

/** The blocks that queries for events began with, while `act` runs. */
export async function queriedFrom(chain: TestChain, act: () => Promise<unknown>): Promise<number[]> {
  const from: number[] = []
  changeAnswers(chain, (answer, method, [filter]) => {
    if (method === 'eth_getLogs') from.push(Number(Object(filter).fromBlock))
    return answer
  })
  await act()
  return [...from]
}
