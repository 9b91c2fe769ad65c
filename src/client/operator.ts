// The entry `confidential-trading-client/operator`: what the platform's owner, guardian and funder change, and what its relay has done.
import type { Hex } from '../protocol/hex.js'
import { type Receipt, receiptSchema } from '../protocol/relayReceipt.js'
import { type Change, compare, type PlannedChange } from './changes.js'
import type { Client, ClientOptions } from './client.js'
import { partsOf, withParts } from './clientParts.js'
import type { Mined } from './contract.js'
import { methodFailure } from './foreignErrors.js'
import type { CallOptions } from './http.js'
import { untilAnswered } from './later.js'
import { readContracts } from './platform.js'
import { type ReaderOptions, readerDeps } from './reader.js'
import { abortable } from './retry.js'
import { createWallet } from './wallet.js'

export type { ProposedAction } from '../chain/actionList.js'
export type { SignerProgram } from '../chain/signerProgram.js'
export type { Change, PlannedChange, Role } from './changes.js'

/** A wallet at the platform's contracts: a client, or what `createOperator` makes. */
export type Operator = Pick<Client, 'getAccount'>

export interface OperatorOptions extends Pick<ClientOptions, 'wallet' | 'miningTimeoutMs'> {
  /** Address of `OrderEscrow`, which names the other contracts. */
  readonly escrow: Hex
}

/**
 * A wallet that changes the platform without a server, such as before the first start: it asks the chain alone.
 * @throws ClientError `no-provider`
 * @example const owner = createOperator({ wallet: window.ethereum, escrow: pins.escrow })
 */
export function createOperator(options: OperatorOptions): Operator {
  const { escrow, miningTimeoutMs = 600_000 } = options
  const wallet = createWallet(options.wallet, { miningTimeoutMs })
  const contracts = untilAnswered(() => readContracts(wallet, escrow))
  const within = ({ signal }: CallOptions = {}) => ({ wallet: wallet.until(signal) })
  const operator: Operator = { getAccount: (call) => within(call).wallet.account() }
  return withParts(operator, { within, contracts: (call) => abortable(contracts(), call?.signal) })
}

/**
 * Compares a change with the chain, and sends nothing: show its text, then `send` it, which the same signal ends.
 * @throws ClientError `invalid-name`, `insufficient-usdc`
 * @example const { text, isInForce, send } = await planChange(client, { kind: 'listing', symbol: 'AAPL', isListed: true })
 */
export async function planChange(
  operator: Operator,
  change: Change,
  options?: CallOptions,
): Promise<PlannedChange> {
  const { within, contracts } = partsOf(operator)
  try {
    return await compare({ ...within(options), contracts: await contracts(options) }, change)
  } catch (error) {
    throw methodFailure(error)
  }
}

/**
 * Sends a change unless it is in force already, which resolves with null: it can be repeated after any interruption.
 * @throws as `planChange`, and as its `send`
 * @example await applyChange(client, { kind: 'kyc', wallet: account, isVerified: true })
 */
export async function applyChange(
  operator: Operator,
  change: Change,
  options?: CallOptions,
): Promise<Mined | null> {
  const { isInForce, send } = await planChange(operator, change, options)
  return isInForce ? null : send()
}

/** The relay's record of an authorization. */
export type RelayReceipt = Receipt

/** The server's address, and the token that guards its relay. */
export interface RelayAccess extends Pick<ReaderOptions, 'serverUrl' | 'timeoutMs'> {
  readonly token: string
}

/**
 * What became of an authorization that the enclave gave to the relay.
 * @throws TypeError for a token that no header can hold; ClientError `insecure-url`; ServerError `relay-unauthorized`, `receipt-not-found`
 * @example const { status, txHash } = await getRelayReceipt({ serverUrl: 'https://trading.example', token: text }, orderId)
 */
export async function getRelayReceipt(
  { token, ...options }: RelayAccess,
  digest: Hex,
  { signal }: CallOptions = {},
): Promise<RelayReceipt> {
  // The error of fetch would quote it.
  if (!/^[!-~]+$/.test(token)) throw new TypeError('expected a token of printable ASCII')
  const withToken: typeof fetch = (url, init) => {
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${token}`)
    // Following a redirect would send the token to another host.
    return fetch(url, { ...init, headers, redirect: 'error' })
  }
  const { http } = readerDeps({ ...options, fetch: withToken })
  return http.get(`/relay/${digest}`, receiptSchema, { signal })
}
