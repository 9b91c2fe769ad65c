import { expect, it } from 'vitest'
import { createChainState } from '../../src/enclave/chainState.js'
import { createPolicyStore } from '../../src/enclave/stores.js'
import type { SignedAuthorization } from '../../src/protocol/authorization.js'
import { ORDER_PLACE, POLICY_PLACE, seal } from '../../src/protocol/envelope.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import type { Policy } from '../../src/protocol/policy.js'
import { usd } from '../support/brokerStandIn.js'
import { enact } from '../support/corporateActions.js'
import { posting } from './support/chainRelay.js'
import { ENCLAVE_KEYS, INTENT_PUBKEY, ORG_ID, rulesFor, sealRulebook } from './support/parties.js'
import { useWorld } from './support/world.js'

const world = useWorld()
const chain = () => world().chain

async function stored() {
  const state = createChainState(world().deps())
  return createPolicyStore(state, ENCLAVE_KEYS).load(ORG_ID, (await state.look()).head)
}

it('a rulebook replaces the one before it wholesale', async () => {
  const rules = rulesFor(chain(), { maxOrderNotional: usd(5), employees: {} })
  const result = await world().policy(await sealRulebook(chain(), rules, 2))
  expect(result).toEqual({ outcome: 'accepted', orgId: ORG_ID, version: 2 })
  expect(await stored()).toEqual({ policy: rules, version: 2 })
})

it('a rulebook is accepted again when the identical one is published already', async () => {
  const again = await sealRulebook(chain(), rulesFor(chain()), 1)
  expect(await world().policy(again)).toEqual({ outcome: 'accepted', orgId: ORG_ID, version: 1 })
  expect(world().relay.posted).toEqual([])
})

it('a rulebook is rejected with another content under a version that is published', async () => {
  const rules = rulesFor(chain(), { allowWithdrawShares: false })
  for (const version of [1, 3]) {
    const result = await world().policy(await sealRulebook(chain(), rules, version))
    expect(result).toEqual({ outcome: 'rejected', code: 'version-conflict' })
  }
})

it('a rulebook is rejected unless the institution’s own admin signed it', async () => {
  const rules = rulesFor(chain())
  const alice = chain().account('alice')
  const byAlice = await sealRulebook(chain(), rules, 2, { admin: alice }, 'alice')
  expect(await world().policy(byAlice)).toEqual({ outcome: 'rejected', code: 'not-admin' })
  const forged = await sealRulebook(chain(), rules, 2, {}, 'alice')
  expect(await world().policy(forged)).toEqual({ outcome: 'rejected', code: 'invalid-signature' })
  const nowhere = await sealRulebook(chain(), rules, 1, { orgId: nameToBytes32('Nobody') })
  expect(await world().policy(nowhere)).toEqual({ outcome: 'rejected', code: 'unknown-institution' })
})

it('a rulebook is rejected when it restricts a symbol that is not listed', async () => {
  const rules = { canBuy: true, canSell: true, restricted: ['ZZZZ'] }
  const employees = { [chain().account('alice').toLowerCase()]: rules }
  const result = await world().policy(await sealRulebook(chain(), rulesFor(chain(), { employees }), 2))
  expect(result).toEqual({ outcome: 'rejected', code: 'unlisted-symbol' })
})

it('a rulebook may restrict a symbol that has changed to a listed one', async () => {
  await enact(chain(), {
    ...{ kind: 'SYMBOL_CHANGE', symbol: 'AAPL', successor: 'MSFT' },
    recordAt: await chain().now(),
  })
  const rules = { canBuy: true, canSell: true, restricted: ['AAPL'] }
  const employees = { [chain().account('alice').toLowerCase()]: rules }
  const result = await world().policy(await sealRulebook(chain(), rulesFor(chain(), { employees }), 2))
  expect(result).toMatchObject({ outcome: 'accepted' })
})

it('a rulebook is rejected when it cannot be read', async () => {
  const nonsense = await seal({ v: 1 }, INTENT_PUBKEY, POLICY_PLACE)
  expect(await world().policy(nonsense)).toEqual({ outcome: 'rejected', code: 'invalid-rulebook' })
  const order = await seal({ v: 1 }, INTENT_PUBKEY, ORDER_PLACE)
  expect(await world().policy(order)).toEqual({ outcome: 'rejected', code: 'undecryptable' })
})

it('a rulebook is accepted when its answer got lost on the way, and when another run published it first', async () => {
  world().relay.faults.push('lose-answer')
  const envelope = await sealRulebook(chain(), rulesFor(chain()), 2)
  expect(await world().policy(envelope)).toMatchObject({ outcome: 'accepted', version: 2 })
  const next = await sealRulebook(chain(), rulesFor(chain()), 3)
  const both = await Promise.all([world().policy(next), world().policy(next)])
  expect(both.map(({ outcome }) => outcome)).toEqual(['accepted', 'accepted'])
  expect((await stored()).version).toBe(3)
})

/** A rulebook of so many employees, each restricted in TSLA. */
function rulebookOf(count: number): Policy {
  const employees: Policy['employees'] = {}
  for (let at = 1; at <= count; at++) {
    const wallet = `0x${at.toString(16).padStart(40, '0')}`
    employees[wallet] = { canBuy: at % 2 === 0, canSell: true, restricted: ['TSLA'] }
  }
  return rulesFor(chain(), { employees })
}

it('a rulebook too long for one transaction takes force whole, and a run that failed between its parts is continued', async () => {
  const rules = rulebookOf(3_000)
  world().relay.faults.push('pass', { kind: 'refused' })
  const first = await world().policy(await sealRulebook(chain(), rules, 2))
  expect(first).toMatchObject({ outcome: 'failed', code: 'relay-refused' })
  expect((await stored()).version).toBe(1)
  expect(await world().policy(await sealRulebook(chain(), rules, 2))).toMatchObject({ version: 2 })
  expect(await stored()).toEqual({ policy: rules, version: 2 })
  // The same bytes: no part has gone to the chain twice.
  const [begun, refused, again, last] = world().relay.posted
  expect(world().relay.posted).toHaveLength(4)
  expect([again, last]).toEqual([begun, refused])
})

it('a rulebook replaces the parts of another that never became whole', async () => {
  world().relay.faults.push('pass', { kind: 'refused' })
  await world().policy(await sealRulebook(chain(), rulebookOf(3_000), 2))
  const rules = rulebookOf(3_001)
  expect(await world().policy(await sealRulebook(chain(), rules, 2))).toMatchObject({ version: 2 })
  expect(await stored()).toEqual({ policy: rules, version: 2 })
  // AES-GCM: one iv for two plaintexts would give both away.
  const ivs = world().relay.posted.flatMap(({ message }) =>
    'policyBlob' in message && message.part === 0n ? [message.policyBlob.slice(4, 28)] : [],
  )
  expect(ivs).toHaveLength(2)
  expect(new Set(ivs).size).toBe(2)
})

it('a rulebook is sealed anew where an older one’s first part, held back, takes the place of its own', async () => {
  const { relay } = world()
  const kept: SignedAuthorization[] = []
  const keeping = posting(relay, () => async (sent) => {
    kept.push(sent)
    return { kind: 'refused' }
  })
  await world().policy(await sealRulebook(chain(), rulebookOf(3_000), 2), { deps: { relay: keeping } })
  const spoiling = posting(relay, (post) => async (sent) => {
    const isSecond = sent.primaryType === 'PolicyUpdate' && sent.message.part === 1n
    for (const old of isSecond ? kept.splice(0) : []) await post(old)
    return post(sent)
  })
  const rules = rulebookOf(3_001)
  const published = await world().policy(await sealRulebook(chain(), rules, 2), { deps: { relay: spoiling } })
  expect(published).toMatchObject({ version: 2 })
  expect(await stored()).toEqual({ policy: rules, version: 2 })
})
