import { hashMessage } from 'ethers'
import { type Bytes, bytesToUint, type Hex, hexToBytes, uintToBytes } from './hex.js'
import { hkdf } from './hkdf.js'
import { assertSignedBy, CURVE_ORDER, normalizeSignature } from './signature.js'

/** The fixed string that a wallet signs (EIP-191 `personal_sign`) to derive its portfolio key. */
export const PORTFOLIO_KEY_MESSAGE = 'Service portfolio key v1'

/**
 * The portfolio's private key from the wallet's signature over {@link PORTFOLIO_KEY_MESSAGE}:
 * `d = (HKDF-SHA256(r ‖ s, salt empty, info the message, 48 bytes) mod (n − 1)) + 1` (FIPS 186-5, A.2.1).
 * @throws ProtocolError `invalid-signature`, `wrong-signer` when `account` did not sign it
 */
export async function portfolioKeyOf(signature: Hex, account: Hex): Promise<Bytes> {
  const normal = normalizeSignature(signature)
  assertSignedBy(account, digestOfMessage(), normal)
  const rs = hexToBytes(normal).subarray(0, 64)
  const info = new TextEncoder().encode(PORTFOLIO_KEY_MESSAGE)
  const wide = await hkdf(rs, new Uint8Array(), info, 48)
  return uintToBytes((bytesToUint(wide) % (CURVE_ORDER - 1n)) + 1n, 32)
}

function digestOfMessage(): Hex {
  return `0x${hashMessage(PORTFOLIO_KEY_MESSAGE).slice(2)}`
}
