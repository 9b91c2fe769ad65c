// The entry `confidential-trading-client/operator`: what the platform's owner decides, and what its relay has done. Each decision is one
// transaction of the owner's wallet, and throws as `ClientContract.send` does.
import { institutionRegistryAbi } from '../chain/generated/institutionRegistryAbi.js'
import { type Receipt, receiptSchema } from '../protocol/api.js'
import type { Hex } from '../protocol/hex.js'
import { TOKEN_OWNER_ABI } from './abis.js'
import type { Client } from './client.js'
import { partsOf } from './clientParts.js'
import { createContract, type Mined } from './contract.js'
import type { CallOptions } from './http.js'
import { nameOf } from './membership.js'
import { type ReaderOptions, readerDeps } from './reader.js'

const ABIS = { registry: institutionRegistryAbi, token: TOKEN_OWNER_ABI }

async function contractOf(client: Client, name: keyof typeof ABIS, options?: CallOptions) {
  const { within, contracts } = partsOf(client)
  const address = (await contracts(options))[name]
  return createContract({ wallet: within(options).wallet, address, abi: ABIS[name] })
}

/**
 * Admits an institution, which makes its founder the admin.
 * @example await admitInstitution(client, orgId, account)
 */
export async function admitInstitution(
  client: Client,
  orgId: Hex,
  founder: Hex,
  options?: CallOptions,
): Promise<Mined> {
  return (await contractOf(client, 'registry', options)).send('setAdmitted', [orgId, founder, true])
}

/**
 * Records that a wallet has passed KYC.
 * @example await verifyWallet(client, account)
 */
export async function verifyWallet(client: Client, wallet: Hex, options?: CallOptions): Promise<Mined> {
  return (await contractOf(client, 'token', options)).send('setKyc', [wallet, true])
}

/**
 * Lists an equity, or delists it.
 * @throws ClientError `invalid-name`
 * @example await setListed(client, 'AAPL', true)
 */
export async function setListed(
  client: Client,
  symbol: string,
  isListed: boolean,
  options?: CallOptions,
): Promise<Mined> {
  const id = nameOf(symbol)
  return (await contractOf(client, 'token', options)).send('setListed', [id, isListed])
}

/**
 * Freezes a wallet's holding of an equity, or releases it.
 * @throws ClientError `invalid-name`
 * @example await setFrozen(client, 'AAPL', account, false)
 */
export async function setFrozen(
  client: Client,
  symbol: string,
  wallet: Hex,
  isFrozen: boolean,
  options?: CallOptions,
): Promise<Mined> {
  const id = nameOf(symbol)
  return (await contractOf(client, 'token', options)).send('setFrozen', [id, wallet, isFrozen])
}

/**
 * Approves the move of a lost wallet's portfolio, which can be carried out after its delay.
 * @example await approveMove(client, account, '0x90F79bf6EB2c4f870365E785982E1f101E93b906')
 */
export async function approveMove(client: Client, from: Hex, to: Hex, options?: CallOptions): Promise<Mined> {
  return (await contractOf(client, 'registry', options)).send('approveMove', [from, to])
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
