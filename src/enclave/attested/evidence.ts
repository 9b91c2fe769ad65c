import { sha256 } from '../../attestation/bytes.js'
import type { StartingStatement } from '../../attestation/starting.js'
import type { Statement } from '../../attestation/statement.js'
import { configurationOf, encodeStatement } from '../../attestation/write.js'
import type { Attestation } from '../../protocol/attestation.js'
import { ENVELOPE_SCHEME } from '../../protocol/envelopeForm.js'
import { type Bytes, type Hex, hexToBytes } from '../../protocol/hex.js'
import type { EnclaveBoot } from '../../protocol/job.js'
import type { Machine } from './machine.js'
import type { AttestedConfig } from './settings.js'

/** The version in package.json, which an image of the program has not. */
export const VERSION = '0.1.0'

type BornKeys = Pick<Statement, 'origin' | 'sealKey' | 'signer'>
type StartingKeys = Pick<StartingStatement, 'origin' | 'sealKey' | 'shares'>

/** What the enclave says of itself, with the machine's evidence that it is this program which says so. */
export function createEvidence(deps: {
  readonly machine: Pick<Machine, 'format' | 'evidence'>
  readonly config: AttestedConfig
  readonly boot: EnclaveBoot
  /** SHA-256 of the program's file, in hex. */
  readonly program: string
  /** The address of `Authority`. */
  readonly authority: () => Promise<Hex>
}) {
  const { machine, config, boot, program } = deps

  async function attest(keys: BornKeys | StartingKeys, nonce?: Bytes): Promise<Attestation> {
    const text = await encodeStatement({ ...(await common()), ...keys })
    const digest = hexToBytes(`0x${await sha256(text)}`)
    return { format: machine.format, evidence: await machine.evidence(digest, nonce), statement: text }
  }

  async function common() {
    return {
      v: 1 as const,
      chainId: config.CHAIN_ID,
      authority: await deps.authority(),
      escrow: config.ORDER_ESCROW_ADDRESS,
      scheme: ENVELOPE_SCHEME,
      configuration: configurationOf(config),
      build: { version: VERSION, digest: program },
      ...boot,
    }
  }

  return {
    /**
     * Evidence of an enclave that waits for its keys.
     * @param sealKey the key to seal shares to, compressed
     * @param shares `sharesDigest` of those that it shows beside the evidence
     */
    starting: (sealKey: Hex, shares?: Hex) =>
      attest({ origin: 'starting', sealKey, ...(shares && { shares }) }),
    /** Evidence of its keys. @param nonce 32 bytes of the verifier's */
    born: (keys: Omit<BornKeys, 'origin'>, nonce?: Bytes) => attest({ origin: 'born', ...keys }, nonce),
  }
}

export type Evidence = ReturnType<typeof createEvidence>
