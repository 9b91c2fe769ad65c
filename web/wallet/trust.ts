import type { Measurements } from '../../src/attestation/index.js'
import type { Trust } from '../../src/client/index.js'
import type { Settings } from '../settings.js'

/**
 * Why the client believes that a key is the enclave's. The verifier loads only where programs are named.
 * @throws AttestationError `malformed-policy`
 */
export async function trustOf(settings: Settings): Promise<Trust> {
  const { pins, measurements } = settings
  if (measurements !== undefined) return { pins, measurements: await verifierOf(settings, measurements) }
  const { enclavePublicKey = '0x', escrow } = pins
  return { pins: { enclavePublicKey, escrow } }
}

async function verifierOf(
  settings: Settings,
  programs: NonNullable<Settings['measurements']>,
): Promise<Measurements> {
  if (IS_SANDBOX && settings.testRoot !== undefined) {
    return (await import('./testDevice.js')).measuredBelow(settings.testRoot, programs)
  }
  const isOfIntel = programs.some(({ tdx }) => tdx !== undefined)
  const { measuredBy } = await (isOfIntel
    ? import('../../src/attestation/tdx/index.js')
    : import('../../src/attestation/index.js'))
  return measuredBy(programs)
}
