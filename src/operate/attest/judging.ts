// The judgement of an enclave that waits for its keys: before anything goes to it, or is kept of it.
import type { AcceptedProgram } from '../../attestation/policy.js'
import type { StartingStatement, StartingVerifier } from '../../attestation/starting.js'
import type { Verified } from '../../attestation/verify.js'
import { createAuthorityView } from '../../chain/authorityView.js'
import type { Attestation } from '../../protocol/attestation.js'
import type { Hex } from '../../protocol/hex.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import type { Environment } from '../../service/config.js'
import { usage } from '../../terminal/failure.js'
import { connectChain } from '../chain.js'
import type { CommonOptions, OperateProcess } from '../io.js'
import { readDeployment } from '../settings.js'
import { readPolicy } from './jsonFile.js'
import { assertNamed, orRefused } from './refusal.js'

/** The options that name what evidence is judged by. */
export interface JudgingOptions extends CommonOptions {
  readonly policy: string
  readonly chainId?: number
  readonly escrow?: Hex
  readonly next?: true
}

/** @throws CommandError `usage`, `deployment-missing`, `deployment-malformed` */
export function judgingOf({ env }: OperateProcess, options: JudgingOptions): Judging {
  const programs = readPolicy(options.policy)
  return { programs, domain: domainOf(options), env, isNext: options.next === true }
}

function domainOf({ directory, chainId, escrow }: JudgingOptions): IntentDomain {
  if (chainId !== undefined && escrow !== undefined) return { chainId, escrow }
  if (chainId !== undefined || escrow !== undefined)
    throw usage('name both --chain-id and --escrow, or neither')
  const deployment = readDeployment(directory)
  return { chainId: deployment.chainId, escrow: deployment.contracts.orderEscrow }
}

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
  using chain = await connectChain(env, domain.chainId)
  await assertNamed(verification, await createAuthorityView(chain.rpc)(domain.escrow), isNext)
  return verification
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
