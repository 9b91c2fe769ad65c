// A firm: employees of one institution, each with a client of its own, as their pages have it.
import { isDeepStrictEqual } from 'node:util'
import { Contract, Interface, Wallet } from 'ethers'
import { expect } from 'vitest'
import { corporateActionsAbi } from '../../src/chain/generated/corporateActionsAbi.js'
import { equityTokenAbi } from '../../src/chain/generated/equityTokenAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { getHistory, periodOf, statementOf } from '../../src/client/history.js'
import { type Client, createClient } from '../../src/client/index.js'
import { addressSchema } from '../../src/protocol/address.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import type { SandboxAccount } from '../../src/sandbox/accounts.js'
import { publishDefaultRulebook } from '../../src/sandbox/demo.js'
import { testUsdcAbi } from '../../src/sandbox/generated/testUsdc.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import { INSTITUTION } from '../../src/sandbox/settings.js'
import type { World } from '../faults/world.js'
import { createWallets, sendFrom, untilMined } from '../support/manyWallets.js'

export interface Employee {
  readonly account: SandboxAccount
  readonly client: Client
}

const FUNDS = 100_000n * ONE_USDC
const RULES = { canBuy: true, canSell: true, restricted: [] }
const registry = new Interface(institutionRegistryAbi)
const usdc = new Interface(testUsdcAbi)
const actions = new Interface(corporateActionsAbi)

/** Hires so many, with KYC and USDC. The rulebook's default is theirs. */
export async function hire({ sandbox, chain }: World, count: number): Promise<readonly Employee[]> {
  const { provider, info, secrets } = sandbox
  // Anvil does not bring a transaction into a block that came while it mined the one of the nonce before.
  const wallets = await chain.between(() => joinAll(sandbox, count))
  await publishDefaultRulebook(sandbox, { default: RULES })
  const pins = { enclavePublicKey: secrets.intentPublicKey, escrow: info.contracts.orderEscrow }
  return wallets.map((account) => ({
    account,
    client: createClient({ serverUrl: info.url, wallet: new Wallet(account.privateKey, provider), pins }),
  }))
}

async function joinAll(sandbox: Sandbox, count: number): Promise<readonly SandboxAccount[]> {
  const { provider, info, accounts } = sandbox
  const { institutionRegistry: to, usdc: token } = info.contracts
  const wallets = await createWallets(sandbox, count)
  const mint = ({ address }: SandboxAccount) => ({
    to: token,
    abi: usdc,
    method: 'mint',
    args: [address, FUNDS],
  })
  const atRegistry = (method: string, ...args: unknown[]) => ({ to, abi: registry, method, args })
  const invitations = wallets.map(({ address }) => atRegistry('setMember', address, true))
  await Promise.all([
    sendFrom(provider, accounts.owner.address, wallets.map(mint)),
    sendFrom(provider, accounts.admin.address, invitations),
  ])
  await untilMined(provider)
  const join = atRegistry('join', nameToBytes32(INSTITUTION))
  await Promise.all(wallets.map(({ address }) => sendFrom(provider, address, [join])))
  await untilMined(provider)
  return wallets
}

/** Has the broker book a forward split, and the owner propose it for the public list: the server enacts it. */
export async function split(sandbox: Sandbox, symbol: string, into: bigint): Promise<void> {
  const { provider, info, accounts, broker } = sandbox
  const day = new Date().toISOString().slice(0, 10)
  broker.book({ type: 'forward_split', symbol, day, newRate: String(into), oldRate: '1' })
  const token = new Contract(info.contracts.equityToken, equityTokenAbi, provider)
  const to = addressSchema.parse(await token.getFunction('actions').staticCall())
  const { timestamp = 0 } = (await provider.getBlock('latest')) ?? {}
  const action = [0, timestamp, into, 1n, 0, nameToBytes32(symbol), ZERO_BYTES32]
  const proposal = { to, abi: actions, method: 'propose', args: [action] }
  await sendFrom(provider, accounts.owner.address, [proposal])
  const list = new Contract(to, actions, provider)
  await expect.poll(() => list.getFunction('count').staticCall()).toBe(1n)
}

/** Compares the month's statement, which the chain alone tells, with what the employee holds. @returns what differs */
export async function statementFaults({ account, client }: Employee): Promise<string[]> {
  const { entries } = await getHistory(client, { fromBlock: 1 })
  const period = periodOf(new Date().toISOString().slice(0, 7))
  const opened = await client.getPortfolio()
  if (period === null || opened === null) return [`${account.address}: no statement`]
  const { closing, isComplete, lines } = statementOf(entries, period, 0)
  const { cash, positions } = opened.portfolio
  const held = Object.fromEntries(Object.entries(positions).map(([symbol, { qty }]) => [symbol, qty]))
  const differs = !isDeepStrictEqual({ cash, positions: held }, closing)
  return differs || !isComplete || lines.length === 0 ? [`${account.address}: the statement differs`] : []
}
