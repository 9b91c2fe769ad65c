import type { Bytes, Hex } from '../protocol/hex.js'
import { latin1, sha256 } from './bytes.js'
import { demand } from './errors.js'
import { type Claims, type RegisterMap, verifyNitro } from './nitro.js'
import { type AcceptedProgram, checkPolicy, measurementOf, programsOf } from './policy.js'
import { type CommonStatement, readStatement, type Statement, type StatementForm } from './statement.js'

/** What is expected of every enclave, from the verifier's own program and from a chain that it trusts. */
export interface CommonExpectation {
  /** One at least. */
  readonly programs: readonly AcceptedProgram[]
  readonly chainId: number
  /** Address of `OrderEscrow`. */
  readonly escrow: Hex
  /** Unix milliseconds. */
  readonly now: number
  /** 32 bytes that the verifier drew and sent: then the evidence was made for it. */
  readonly nonce?: Hex | undefined
}

/** What is expected of an enclave that has its keys. */
export interface Expectation extends CommonExpectation {
  /** The chain's `enclaveSigner()`. */
  readonly signer: Hex
}

export interface Verified<S extends CommonStatement = Statement> {
  /** The accepted program's. */
  readonly label: string
  /** The kind of machine, by the name of its registers in a policy. */
  readonly map: RegisterMap
  /** The measured program, and the SHA-256 of its configuration: the chain's `signerProgram()` has both. */
  readonly measurement: Hex
  readonly config: Hex
  readonly statement: S
  /** Unix milliseconds: when AWS's hypervisor issued the document; for dstack, when Intel signed the firmware levels. */
  readonly issuedAt: number
}

/** The client's option `measurements`: judges what a server shows, by the policy that `measuredBy` was given. */
export type Measurements = (
  attestation: unknown,
  expected: Omit<Expectation, 'programs'>,
) => Promise<Verified>

/** Base64 of 24 kB at most: a document has 16 kB. Its length has to be a multiple of four, too. */
const BASE64 = /^[A-Za-z0-9+/]{1,32766}={0,2}$/

/**
 * Verifies evidence of a format that is not AWS's. `now` in Unix milliseconds.
 * @returns undefined where it does not know the format
 * @throws AttestationError
 */
export type EvidenceVerifier = (format: string, evidence: Bytes, now: number) => Promise<Claims> | undefined

/**
 * A verifier of one kind of statement.
 * @param form BORN for clients, STARTING for holders
 * @param root SHA-256 of the certificate that every document of AWS's form has to descend from, in hex
 * @param documents the format's name of such documents: the sandbox's stand-in has `test`, below a root of its own
 * @param verifyOther verifies evidence of every other format, such as dstack's; without it, they are `unsupported-format`
 */
export function createVerifier<S extends CommonStatement>(
  form: StatementForm<S>,
  root: string,
  documents = 'aws-nitro',
  verifyOther?: EvidenceVerifier,
) {
  return async (
    attestation: unknown,
    expected: CommonExpectation & Pick<S, 'signer'>,
  ): Promise<Verified<S>> => {
    const { programs, now, nonce } = expected
    checkPolicy(programs)
    const { format, evidence, text } = readAttestation(attestation)
    const claims = await (format === documents
      ? verifyNitro(evidence, { root, now })
      : verifyOther?.(format, evidence, now))
    demand(claims !== undefined, 'unsupported-format')
    // A document without a nonce has none that an empty one could equal.
    demand(nonce === undefined || isSameHex(nonce, `0x${claims.nonce || 0}`), 'wrong-nonce')
    const measured = programsOf(programs, claims, now)
    demand((await sha256(text)) === claims.userData, 'statement-differs')
    const { statement, config } = await readStatement(text, form)
    demand(statement.chainId === expected.chainId, 'wrong-chain')
    demand(isSameHex(statement.escrow, expected.escrow), 'wrong-escrow')
    demand(isSameHex(statement.signer, expected.signer), 'wrong-signer')
    const program = measured.find(({ configuration }) => configuration === config)
    demand(program !== undefined, 'wrong-configuration')
    const { map, issuedAt } = claims
    const measurement = await measurementOf(map, claims.registers)
    return { label: program.label, map, measurement, config, statement, issuedAt }
  }
}

function readAttestation(value: unknown) {
  const { format, evidence, statement: text }: Readonly<Record<string, unknown>> = Object(value)
  const isWhole = typeof format === 'string' && typeof text === 'string' && typeof evidence === 'string'
  demand(isWhole && BASE64.test(evidence) && evidence.length % 4 === 0, 'malformed-attestation')
  return { format, text, evidence: latin1(atob(evidence)) }
}

function isSameHex(a: Hex | undefined, b: Hex | undefined): boolean {
  return a?.toLowerCase() === b?.toLowerCase()
}
