import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { open, POLICY_PLACE } from '../../src/protocol/envelope.js'
import { hexToBytes } from '../../src/protocol/hex.js'
import type { Policy } from '../../src/protocol/policy.js'
import { policyIntentDigest, rulebookSchema } from '../../src/protocol/policyIntent.js'
import { envelopeHash, postPolicySchema, sealedRulebookDigest } from '../../src/protocol/sealedRulebook.js'
import { recoverAddress } from '../../src/protocol/signature.js'
import { type ApiAnswer, type ApiStandIn, problem, startApiStandIn } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import type { Role } from '../support/roles.js'
import { answerAsServer, clearForTrading, clientOf, INTENT_PRIVATE_KEY, ORG_ID } from './clientSetting.js'

const chain = useChain(clearForTrading)
let api: ApiStandIn

beforeAll(async () => {
  api = await startApiStandIn()
})
afterAll(() => api.stop())

const rules = { canBuy: true, canSell: false, restricted: ['TSLA'] }

function policyOf(employees: Policy['employees']): Policy {
  return { employees, maxOrderNotional: 5_000_000_000n, allowWithdrawShares: true }
}

/** A client whose server has version 4 and answers what is published like this. */
function clientOfServer(role: Role, answer: ApiAnswer = { body: { orgId: ORG_ID, version: 5 } }) {
  answerAsServer(api, chain(), ({ method, path }) => {
    if (path === `/policy/${ORG_ID}`) return { body: { orgId: ORG_ID, version: 4 } }
    return method === 'POST' && path === '/policy' ? answer : undefined
  })
  return clientOf(chain(), api, role)
}

const posted = () => api.requests.filter(({ method }) => method === 'POST').map(({ body }) => body)

describe('publishing a rulebook', () => {
  it('seals it, signed by the admin inside and outside the seal, with the next version', async () => {
    const alice = chain().account('alice')
    const policy = policyOf({ [alice]: rules })
    expect(await clientOfServer('admin').publishRulebook(policy)).toEqual({ orgId: ORG_ID, version: 5 })
    const { author, ...envelope } = postPolicySchema.parse(posted()[0])
    const rulebook = rulebookSchema.parse(await open(envelope, hexToBytes(INTENT_PRIVATE_KEY), POLICY_PLACE))
    const admin = chain().account('admin')
    expect(rulebook).toMatchObject({ v: 1, orgId: ORG_ID, admin, version: 5 })
    expect(rulebook.policy).toEqual(policyOf({ [alice.toLowerCase()]: rules }))
    const domain = { chainId: chain().anvil.chainId, escrow: chain().addressOf('escrow') }
    expect(recoverAddress(policyIntentDigest(rulebook, domain), rulebook.sig)).toBe(admin)
    const digest = sealedRulebookDigest({ orgId: ORG_ID, envelopeHash: envelopeHash(envelope) }, domain)
    expect(author?.orgId).toBe(ORG_ID)
    expect(recoverAddress(digest, author?.sig ?? '0x')).toBe(admin)
  })

  it('posts the same envelope again when the enclave is busy', async () => {
    let busy = true
    const client = clientOfServer('admin')
    answerAsServer(api, chain(), ({ method, path }) => {
      if (path === `/policy/${ORG_ID}`) return { body: { orgId: ORG_ID, version: 4 } }
      if (method !== 'POST') return undefined
      const answer = busy ? problem(503, 'enclave-busy') : { body: { orgId: ORG_ID, version: 5 } }
      busy = false
      return answer
    })
    await client.publishRulebook(policyOf({}))
    expect(posted()).toHaveLength(2)
    expect(posted()[1]).toEqual(posted()[0])
  })

  it('hands on why the enclave rejects it', async () => {
    const client = clientOfServer('admin', problem(422, 'policy-rejected', { reason: 'unlisted-symbol' }))
    await expect(client.publishRulebook(policyOf({}))).rejects.toMatchObject({
      code: 'policy-rejected',
      problem: { reason: 'unlisted-symbol' },
    })
  })

  it('does not believe in another version than its own', async () => {
    const client = clientOfServer('admin', { body: { orgId: ORG_ID, version: 9 } })
    await expect(client.publishRulebook(policyOf({}))).rejects.toMatchObject({ code: 'unexpected-answer' })
  })

  it.each<Role>(['alice', 'carol'])('is refused to %s, who is no admin', async (role) => {
    await expect(clientOfServer(role).publishRulebook(policyOf({}))).rejects.toMatchObject({
      code: 'not-admin',
    })
    expect(posted()).toEqual([])
  })

  const key = `0x${'Ab'.repeat(20)}`
  const many = Array.from(
    { length: 400 },
    (_, i) => [`0x${i.toString(16).padStart(40, '0')}`, rules] as const,
  )
  it.each<[string, Policy]>([
    ['an employee twice, in two cases', policyOf({ [key]: rules, [key.toLowerCase()]: rules })],
    ['an employee that is no address', policyOf({ '0x12': rules })],
    ['a symbol twice', policyOf({ [key]: { ...rules, restricted: ['AAPL', 'AAPL'] } })],
    ['more than fits', policyOf(Object.fromEntries(many))],
  ])('is refused with %s', async (_, policy) => {
    const client = clientOfServer('admin')
    await expect(client.publishRulebook(policy)).rejects.toMatchObject({ code: 'invalid-rulebook' })
    expect(posted()).toEqual([])
  })
})
