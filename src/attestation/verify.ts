import type { Bytes, Hex } from '../protocol/hex.js'
import { sha256 } from './bytes.js'
import { demand } from './errors.js'
import { verifyNitro } from './nitro.js'
import { type AcceptedProgram, checkPolicy, programsOf } from './policy.js'
import { readStatement, type Statement } from './statement.js'

/** What is expected, from the verifier's own program and from a chain that it trusts. */
export interface Expectation {
  /** At least one. */
  readonly programs: readonly AcceptedProgram[]
  readonly chainId: number
  /** Address of `OrderEscrow`. */
  readonly escrow: Hex
  /** The chain's `enclaveSigner()`. */
  readonly signer: Hex
  /** Unix milliseconds. */
  readonly now: number
}

export interface Verified {
  /** The accepted program's. */
  readonly label: string
  readonly statement: Statement
  /** Unix milliseconds, by the hypervisor's clock. */
  readonly issuedAt: number
}

/** Judges the evidence that a server shows, by a policy of the client's own. */
export type Measurements = (
  attestation: unknown,
  platform: Omit<Expectation, 'programs'>,
) => Promise<Verified>

/** Base64 of 24 kB. A document has 16 kB at most. */
const MAX_EVIDENCE_CHARACTERS = 32_768
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** @param root SHA-256 of the certificate that every document has to descend from, in hex */
export function createVerifier(root: string) {
  return async (attestation: unknown, expected: Expectation): Promise<Verified> => {
    const { programs, now } = expected
    checkPolicy(programs)
    const { evidence, text } = readAttestation(attestation)
    const attested = await verifyNitro(evidence, { root, now })
    const measured = programsOf(programs, attested, now)
    demand((await sha256(text)) === attested.userData, 'statement-differs')
    const { statement, config } = await readStatement(text)
    demand(statement.chainId === expected.chainId, 'wrong-chain')
    demand(isSameAddress(statement.escrow, expected.escrow), 'wrong-escrow')
    demand(isSameAddress(statement.signer, expected.signer), 'wrong-signer')
    const program = measured.find(({ configuration }) => configuration === config)
    demand(program !== undefined, 'wrong-configuration')
    return { label: program.label, statement, issuedAt: attested.issuedAt }
  }
}

function readAttestation(value: unknown): { readonly evidence: Bytes; readonly text: string } {
  demand(typeof value === 'object' && value !== null, 'malformed-attestation')
  const { format, evidence, statement: text }: Readonly<Record<string, unknown>> = { ...value }
  demand(typeof format === 'string', 'malformed-attestation')
  demand(format === 'aws-nitro', 'unsupported-format')
  demand(typeof text === 'string' && typeof evidence === 'string', 'malformed-attestation')
  const isWhole = evidence.length <= MAX_EVIDENCE_CHARACTERS && evidence.length % 4 === 0
  demand(isWhole && BASE64.test(evidence), 'malformed-attestation')
  return { evidence: Uint8Array.from(atob(evidence), (letter) => letter.charCodeAt(0)), text }
}

function isSameAddress(a: Hex, b: Hex): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
