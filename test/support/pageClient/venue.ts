// Whom to trust with what: section 6 of docs/protocol.md.
import { fromHex, type Hex, toHex } from './bytes.js'
import type { Chain } from './chain.js'
import { compressed } from './curve.js'
import { SCHEME } from './envelope.js'
import type { Http } from './http.js'
import { hexOf, integerOf, textOf } from './json.js'
import type { Domain } from './typedData.js'

/** Values that the program has from a source other than the server. */
export interface Pins {
  readonly publicKey?: Hex
  readonly escrow?: Hex
}

/** Where orders go: the enclave's key and the contracts. */
export interface Venue extends Domain {
  /** 33 bytes. */
  readonly enclaveKey: Buffer
  readonly usdc: Hex
  readonly ledger: Hex
  readonly registry: Hex
  readonly token: Hex
}

export const sameBytes = (one: Hex, other: Hex): boolean => fromHex(one).equals(fromHex(other))

/**
 * Asks the server for the enclave's key, and checks what it says.
 * @throws Error when it speaks another scheme, or of other keys, contracts or chains than are known
 */
export async function findVenue(http: Http, chain: Chain, pins: Pins = {}): Promise<Venue> {
  const answer = await http.get('/enclave-key')
  if (!answer) throw new Error('no answer')
  const { body } = answer
  if (textOf(body, 'scheme') !== SCHEME) throw new Error('another scheme')
  const enclaveKey = compressed(fromHex(hexOf(body, 'publicKey')))
  const escrow = hexOf(body, 'escrow')
  if (pins.publicKey && !enclaveKey.equals(compressed(fromHex(pins.publicKey))))
    throw new Error('another key')
  if (pins.escrow && !sameBytes(pins.escrow, escrow)) throw new Error('another escrow')
  const chainId = await chain.chainId()
  if (BigInt(integerOf(body, 'chainId')) !== chainId) throw new Error('another chain')
  const usdc = await chain.readBytes(escrow, 'usdc')
  if (!sameBytes(usdc, hexOf(body, 'usdc'))) throw new Error('another USDC')
  const ledger = await chain.readBytes(escrow, 'ledger')
  const registry = await chain.readBytes(escrow, 'registry')
  const token = await chain.readBytes(escrow, 'token')
  return { enclaveKey, chainId, escrow: toHex(fromHex(escrow, 20)), usdc, ledger, registry, token }
}
