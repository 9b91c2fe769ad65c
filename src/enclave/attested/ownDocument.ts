import { verifyNitro } from '../../attestation/nitro.js'
import { measurementOf } from '../../attestation/policy.js'
import type { Bytes, Hex } from '../../protocol/hex.js'

/**
 * The measurement that a document of AWS's form shows.
 * @param evidence Base64
 * @param root SHA-256 of its root's certificate, in hex
 * @throws AttestationError
 */
export async function measurementIn(evidence: string, root: string): Promise<Hex> {
  const bytes: Bytes = Uint8Array.from(Buffer.from(evidence, 'base64'))
  const { map, registers } = await verifyNitro(bytes, { root, now: Date.now() })
  return measurementOf(map, registers)
}
