// An enclave that waits for its keys, and the judgement of its evidence: before anything goes to it, or is kept of it.
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { AttestationError, type AttestationErrorCode } from '../../attestation/errors.js'
import { type Outcome, outcomeOf } from '../../attestation/judge.js'
import { type AcceptedProgram, checkPolicy } from '../../attestation/policy.js'
import type { StartingStatement, StartingVerifier } from '../../attestation/starting.js'
import type { Verified } from '../../attestation/verify.js'
import { createAuthorityView, programFault } from '../../chain/authorityView.js'
import type { Authority } from '../../chain/contracts.js'
import type { SignerProgram } from '../../chain/signerProgram.js'
import { problemSchema } from '../../protocol/api.js'
import type { Attestation } from '../../protocol/attestation.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import { JsonError, parseStrictJson } from '../../protocol/strictJson.js'
import type { Environment } from '../../service/config.js'
import { CommandError, RefusedError, usage } from '../../terminal/failure.js'
import { connectChain } from '../chain.js'
import { jsonOf } from '../settings.js'

/** Why evidence is refused. Of the others the code says enough. */
const REASONS: Partial<Record<AttestationErrorCode, string>> = {
  'unsupported-format': 'this program does not know its platform',
  'unknown-root': 'its chain does not begin with the root of the maker of the hardware',
  'broken-chain': 'its chain of certificates is broken',
  'certificate-expired': 'one of its certificates is not in force',
  'certificate-misused': 'one of its certificates is for something else',
  'invalid-signature': 'the hardware did not sign it',
  'debug-mode': 'the enclave runs in debug mode: the operator can read its memory',
  'collateral-missing': 'it lacks what Intel signed about the processor',
  'collateral-expired': 'what Intel signed about the processor is not in force',
  'collateral-differs': 'it has what Intel signed about another kind of processor',
  'certificate-revoked': 'Intel has revoked one of its certificates',
  'untrusted-platform': 'firmware, module or machine are not as Intel says that they have to be',
  'log-differs': 'its log is not what the hardware measured',
  outdated: 'it is older than two hours, or from the future',
  'unknown-program': 'the program is none of the policy',
  'retired-program': 'the time of the program is over, by the policy',
  'statement-differs': 'it is about another statement',
  'malformed-statement': 'its statement is none of such an enclave',
  'wrong-chain': 'it is of another chain',
  'wrong-escrow': 'it is of another deployment',
  'wrong-signer': 'it binds another signer than the one that is named',
  'wrong-configuration': 'the program is accepted, but not with this configuration',
}

const CODES = {
  refused: 'evidence-refused',
  unreadable: 'evidence-unreadable',
  unsupported: 'evidence-unsupported',
} as const satisfies Record<Outcome, string>

/** What a document is judged by. */
export interface Judging {
  readonly programs: readonly AcceptedProgram[]
  readonly domain: IntentDomain
  /** Names a node. */
  readonly env: Environment
  /** Whether the program is to become the next one, before the owner can name it: its signer is born with its keys. */
  readonly isNext: boolean
}

/** @throws CommandError as {@link orRefused} and {@link assertNamed} say; ConfigError, ChainUnavailableError, ChainAnswerError */
export async function verified(
  verify: StartingVerifier,
  document: Attestation,
  { programs, domain, env, isNext }: Judging,
): Promise<Verified<StartingStatement>> {
  // The verifier refuses members that are not its own.
  const { format, evidence, statement } = document
  const expected = { ...domain, programs, now: Date.now() }
  const verification = await orRefused(() => verify({ format, evidence, statement }, expected))
  const chain = await connectChain(env, domain.chainId)
  try {
    await assertNamed(verification, await createAuthorityView(chain.rpc)(domain.escrow), isNext)
  } finally {
    chain.close()
  }
  return verification
}

/**
 * Whatever a policy says, which may be an old one.
 * @throws CommandError `evidence-refused`, whose fault is `revoked-program` or `unannounced-program`; ChainUnavailableError, ChainAnswerError
 */
export async function assertNamed(
  program: SignerProgram,
  authority: Authority,
  isNext = false,
): Promise<void> {
  const found = await programFault(program, authority)
  if (found === 'revoked-program') throw unnamed(found, 'the guardian has revoked its program')
  if (found === 'unannounced-program' && !isNext)
    throw unnamed(found, 'the chain names another program or configuration, in force and as the next')
}

function unnamed(code: string, reason: string): CommandError {
  const text = `the evidence of the enclave does not hold: ${reason}`
  return new CommandError('evidence-refused', text, null, [code])
}

/** @throws CommandError `evidence-refused`, `evidence-unreadable`, `evidence-unsupported`, whose fault is the code of the check */
export async function orRefused<T>(verification: () => Promise<T>): Promise<T> {
  try {
    return await verification()
  } catch (error) {
    if (!(error instanceof AttestationError)) throw error
    const { code } = error
    const text = `the evidence of the enclave does not hold: ${REASONS[code] ?? code}`
    throw new CommandError(CODES[outcomeOf(code)], text, null, [code])
  }
}

/** The lines and the facts of a verification, for people and for programs. */
export function described({ label, measurement, config, statement }: Verified<StartingStatement>) {
  const { instance, boot, build } = statement
  return {
    lines: [
      `the evidence holds: program ${label} (${build.version})`,
      `measurement ${measurement}, configuration ${config}`,
      `by its own count instance ${instance}, start ${boot}: the operator can copy what it counts in`,
    ],
    facts: { label, measurement, config, instance, boot },
  }
}

/** @throws CommandError `usage` for a file that is no policy */
export function readPolicy(path: string): readonly AcceptedProgram[] {
  const programs = readJsonFile(path)
  try {
    checkPolicy(programs)
    return programs
  } catch {
    throw usage(
      `${path} is no policy: expected the list of programs of docs/attestation.md, each of them pinned`,
    )
  }
}

/** @throws CommandError `usage` for text that is no JSON, or has a member twice */
export function readJsonFile(path: string, read: (path: string) => Buffer | string = readText): unknown {
  const text = read(path).toString()
  try {
    return parseStrictJson(text)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw usage(`${path}: ${error.message}`)
  }
}

function readText(path: string): string {
  return readFileSync(path, 'utf8')
}

/** A founding, which makes all its evidence and seals the shares. */
const TIMEOUT_MS = 30_000

/**
 * Asks an attested enclave.
 * @throws RefusedError with the enclave's code; CommandError `enclave-unavailable`
 */
export async function askEnclave<T>(
  enclaveUrl: string,
  path: string,
  request: {
    readonly method: 'GET' | 'POST'
    readonly body?: object
    readonly headers?: Readonly<Record<string, string>>
    readonly timeoutMs?: number
  },
  schema: z.core.$ZodType<T>,
): Promise<T> {
  const { status, text } = await exchange(`${enclaveUrl}${path}`, request)
  if (status !== 200) {
    const { data } = problemSchema.safeParse(jsonOf(text))
    if (status >= 500 || data === undefined)
      throw unavailable(`the enclave answered ${status}${data === undefined ? '' : ` (${data.code})`}`)
    throw new RefusedError(data.code, data.title)
  }
  const { data } = z.safeParse(schema, jsonOf(text))
  if (data === undefined) throw unavailable('the answer is none of such an enclave')
  return data
}

async function exchange(
  url: string,
  { method, body, headers, timeoutMs = TIMEOUT_MS }: Parameters<typeof askEnclave>[2],
) {
  try {
    const answer = await fetch(url, {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  } catch {
    throw unavailable('the enclave does not answer')
  }
}

function unavailable(text: string): CommandError {
  return new CommandError('enclave-unavailable', text)
}
