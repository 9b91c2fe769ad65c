import * as z from 'zod'
import { sameAddress, ZERO_ADDRESS } from '../protocol/address.js'
import { successorOf } from '../protocol/corporateActions.js'
import type { Envelope } from '../protocol/envelope.js'
import { ProtocolError } from '../protocol/errors.js'
import { bytes32ToName } from '../protocol/identifiers.js'
import type { RunResult } from '../protocol/job.js'
import { allRules, type Policy, policyHash } from '../protocol/policy.js'
import { policyIntentDigest, type Rulebook } from '../protocol/policyIntent.js'
import { restarting } from './failures.js'
import type { BlockPoint } from './heads.js'
import { domainOf } from './order/read.js'
import type { Run } from './run.js'

/** Why a rulebook was rejected. The admin who wrote it gets the code back; the code names no rule. */
type PolicyRejection =
  | 'undecryptable'
  | 'invalid-rulebook'
  | 'invalid-signature'
  | 'unknown-institution'
  | 'not-admin'
  | 'not-admitted'
  | 'version-conflict'
  | 'unlisted-symbol'

/** Publishes an institution's sealed rulebook, wholesale; the same one again, once published, is accepted again. */
export async function runPolicy(run: Run, envelope: Envelope): Promise<RunResult> {
  const rulebook = await readRulebook(run, envelope)
  if (typeof rulebook === 'string') return rejected(rulebook)
  return restarting(() => publish(run, rulebook))
}

async function publish(run: Run, rulebook: Rulebook): Promise<RunResult> {
  const { orgId, admin, policy, version } = rulebook
  const { head: block } = await run.chain.look()
  if (!(await isSigned(run, rulebook, block))) return rejected('invalid-signature')
  const authority = await run.chain.registry.adminOf(orgId, block.hash)
  if (authority === ZERO_ADDRESS) return rejected('unknown-institution')
  if (!sameAddress(authority, admin)) return rejected('not-admin')
  if (!(await run.chain.registry.isAdmitted(orgId, block.hash))) return rejected('not-admitted')
  const stored = await run.policies.load(orgId, block)
  const same = stored.policy !== null && policyHash(stored.policy) === policyHash(policy)
  if (same && stored.version === version) return { outcome: 'accepted', orgId, version }
  if (version !== stored.version + 1) return rejected('version-conflict')
  if (!(await areListed(run, policy, block))) return rejected('unlisted-symbol')
  const { parts, digest } = await run.policies.seal(orgId, policy, version, block)
  const whole = { orgId, admin, version: BigInt(version), parts: BigInt(parts.length), digest }
  for (const [part, policyBlob] of parts.entries()) {
    // One that the chain has already is not sent again.
    await run.authorizer.submit({
      primaryType: 'PolicyUpdate',
      message: { ...whole, part: BigInt(part), policyBlob },
    })
  }
  return { outcome: 'accepted', orgId, version }
}

/** The rulebook in an envelope. */
async function readRulebook(run: Run, envelope: Envelope): Promise<Rulebook | PolicyRejection> {
  try {
    return await run.open.rulebook(envelope)
  } catch (error) {
    if (error instanceof z.core.$ZodError) return 'invalid-rulebook'
    // It opened: its text repeats a member, or is no JSON at all.
    const isOpen = error instanceof ProtocolError && error.code === 'invalid-plaintext'
    return isOpen ? 'invalid-rulebook' : 'undecryptable'
  }
}

function isSigned(run: Run, { sig, ...unsigned }: Rulebook, block: BlockPoint): Promise<boolean> {
  return run.chain.isSignedBy(unsigned.admin, policyIntentDigest(unsigned, domainOf(run)), sig, block)
}

/** Whether each restricted symbol is listed, or has changed to one that is: the restriction goes on under that. */
async function areListed({ chain }: Run, policy: Policy, block: BlockPoint): Promise<boolean> {
  const [ids, actions] = await Promise.all([chain.token.listedSymbols(block.hash), chain.actions(block)])
  const listed = new Set(ids.map(bytes32ToName))
  const restricted = allRules(policy).flatMap((rule) => rule.restricted)
  return restricted.every((symbol) => listed.has(successorOf(symbol, actions).symbol))
}

function rejected(code: PolicyRejection): RunResult {
  return { outcome: 'rejected', code }
}
