// The portfolio's key from the wallet's signature: section 4 of docs/protocol.md.
import { hkdfSync } from 'node:crypto'
import { keccak256 } from 'ethers'
import { fromHex, integerBytes, toInteger, utf8 } from './bytes.js'
import { N, publicKeyOf, signDigest } from './curve.js'

const MESSAGE = 'Service portfolio key v1'

export interface PortfolioKey {
  readonly privateKey: Buffer
  /** 33 bytes. */
  readonly publicKey: Buffer
}

/** EIP-191's digest of the text that the wallet signs. */
export const messageDigest = (): Buffer =>
  fromHex(keccak256(utf8(`\x19Ethereum Signed Message:\n${MESSAGE.length}${MESSAGE}`)))

/** From a signature of 65 bytes. */
export function keyFromSignature(signature: Uint8Array): PortfolioKey {
  const ikm = signature.subarray(0, 64)
  const okm = Buffer.from(hkdfSync('sha256', ikm, Buffer.alloc(0), utf8(MESSAGE), 48))
  const privateKey = integerBytes((toInteger(okm) % (N - 1n)) + 1n, 32)
  return { privateKey, publicKey: publicKeyOf(privateKey) }
}

/** @throws Error when the wallet doesn't sign the same text the same way twice */
export function derivePortfolioKey(walletKey: Uint8Array): PortfolioKey {
  const [first, second] = [signDigest(walletKey, messageDigest()), signDigest(walletKey, messageDigest())]
  if (!first.equals(second)) throw new Error('the wallet does not sign deterministically')
  return keyFromSignature(first)
}
