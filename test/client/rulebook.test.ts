import { concat } from 'ethers'
import { describe, expect, it, vi } from 'vitest'
import {
  forgetPublication,
  getKeptPublication,
  getRulebookCopy,
  openRulebookCopy,
  publishRulebook,
  resumePublication,
} from '../../src/client/admin.js'
import type { HistoryStore } from '../../src/client/index.js'
import { hexOf, hexToBytes } from '../../src/protocol/hex.js'
import type { Policy } from '../../src/protocol/policy.js'
import { openRulebook, policyIntentDigest } from '../../src/protocol/policyIntent.js'
import { rulebookCopySchema, sealRulebookCopy } from '../../src/protocol/rulebookCopy.js'
import { envelopeHash, postPolicySchema, sealedRulebookDigest } from '../../src/protocol/sealedRulebook.js'
import { recoverAddress } from '../../src/protocol/signature.js'
import { makeContractWallet } from '../contracts/fixtures/contractWallet.js'
import { type ApiAnswer, problem, useApi } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import { enact } from '../support/corporateActions.js'
import { createMemoryDevice, NO_DEVICE } from '../support/memoryDevice.js'
import type { Role } from '../support/roles.js'
import {
  answerAsServer,
  clearForTrading,
  clientOf,
  INTENT_PRIVATE_KEY,
  ORG_ID,
  signAtRandom,
  walletOf,
} from './clientSetting.js'

const chain = useChain(clearForTrading)
const api = await useApi()

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

it('publishing a rulebook seals it, signed by the admin inside and outside the seal, with the next version', async () => {
  const alice = chain().account('alice')
  const policy = policyOf({ [alice]: rules })
  expect(await publishRulebook(clientOfServer('admin'), policy)).toMatchObject({ orgId: ORG_ID, version: 5 })
  const { author, ...envelope } = postPolicySchema.parse(posted()[0])
  const rulebook = await openRulebook(envelope, hexToBytes(INTENT_PRIVATE_KEY))
  const admin = chain().account('admin')
  expect(rulebook).toMatchObject({ v: 1, orgId: ORG_ID, admin, version: 5 })
  expect(rulebook.policy).toEqual(policyOf({ [alice.toLowerCase()]: rules }))
  const domain = { chainId: chain().anvil.chainId, escrow: chain().addressOf('escrow') }
  expect(recoverAddress(policyIntentDigest(rulebook, domain), rulebook.sig)).toBe(admin)
  const digest = sealedRulebookDigest({ orgId: ORG_ID, envelopeHash: envelopeHash(envelope) }, domain)
  expect(author?.orgId).toBe(ORG_ID)
  expect(recoverAddress(digest, author?.sig ?? '0x')).toBe(admin)
})

it('publishing a rulebook does not believe in another version than its own', async () => {
  const client = clientOfServer('admin', { body: { orgId: ORG_ID, version: 9 } })
  await expect(publishRulebook(client, policyOf({}))).rejects.toMatchObject({ code: 'unexpected-answer' })
})

describe('with a store', () => {
  const [once, lost] = [policyOf({}), problem(502, 'enclave-failed')]
  const refused = problem(422, 'policy-rejected', { reason: 'version-conflict' })
  const VERSION = { orgId: ORG_ID, version: 5 }

  /** A store whose owner has lost the answer to version 5. */
  async function cutOff() {
    const store = createMemoryDevice()
    const publishing = publishRulebook(clientOfServer('admin', lost), once, { base: 4, store })
    await expect(publishing).rejects.toMatchObject({ code: 'enclave-failed' })
    return { store, sealed: posted().at(-1) }
  }
  /** What a program that has started anew posts and signs. */
  async function publishAgain(store: HistoryStore, policy: Policy, base?: number) {
    clientOfServer('admin')
    const wallet = walletOf(chain(), 'admin')
    const signTypedData = vi.spyOn(wallet, 'signTypedData')
    const steps: string[] = []
    const onStep = (step: string) => steps.push(step)
    await publishRulebook(clientOf(chain(), api, 'admin', { wallet }), policy, { base, store, onStep })
    return { steps, signatures: signTypedData.mock.calls.length, sealed: posted().at(-1) }
  }

  // test/e2e/longRulebook.test.ts kills the program for it, test/browser/longRulebook.test.ts the page.
  it('the same rulebook is posted again as it was sealed, without a signature, and its copy kept once it is in force', async () => {
    const { store, sealed } = await cutOff()
    const client = clientOfServer('admin')
    expect(await getKeptPublication(client, { store })).toBe(5)
    expect(await getRulebookCopy(client, VERSION, { store })).toBeNull()
    const again = await publishAgain(store, { ...once, employees: {} })
    expect(again).toEqual({ steps: ['resuming'], signatures: 0, sealed })
    expect(await getKeptPublication(client, { store })).toBeNull()
    expect(await openRulebookCopy(client, await getRulebookCopy(client, VERSION, { store }), 5)).toEqual(once)
  })

  it('another rulebook, or the same one for another version, is signed and takes its place', async () => {
    const { store, sealed } = await cutOff()
    const other = policyOf({ [chain().account('alice')]: rules })
    const again = await publishAgain(store, other)
    expect(again).toMatchObject({ steps: ['signing'], signatures: 2 })
    expect(again.sealed).not.toEqual(sealed)
    const later = await cutOff()
    clientOfServer('admin', { body: { orgId: ORG_ID, version: 6 } })
    const next = publishRulebook(clientOf(chain(), api, 'admin'), once, { base: 5, store: later.store })
    expect((await next).version).toBe(6)
    expect(posted().at(-1)).not.toEqual(later.sealed)
  })

  it('it is resumed by itself, and forgotten once it is refused for good or given up', async () => {
    const [first, second] = [await cutOff(), await cutOff()]
    const client = clientOfServer('admin', refused)
    const { store } = first
    await expect(resumePublication(client, { store })).rejects.toMatchObject({ code: 'policy-rejected' })
    expect(await resumePublication(client, { store })).toBeNull()
    expect(await getRulebookCopy(client, VERSION, { store })).toBeNull()
    await forgetPublication(client, { store: second.store })
    expect(await getKeptPublication(client, { store: second.store })).toBeNull()

    const third = await cutOff()
    expect(await resumePublication(clientOfServer('admin'), { store: third.store })).toMatchObject(VERSION)
    expect(await getRulebookCopy(client, VERSION, { store: third.store })).not.toBeNull()
  })

  it('a copy that opens is kept, and none of another institution or deployment is given out', async () => {
    const { client, copy } = await published()
    const store = createMemoryDevice()
    await openRulebookCopy(client, copy, 5, { store })
    expect(await getRulebookCopy(client, VERSION, { store })).toEqual(copy)
    const other = { ...VERSION, orgId: `0x${'01'.repeat(32)}` as const }
    expect(await getRulebookCopy(client, other, { store })).toBeNull()
    await expect(openRulebookCopy(client, { ...copy, version: 6 }, 6, { store })).rejects.toThrow()
    expect(store.kept.size).toBe(1)
  })

  it('one that fails, or holds what is damaged, stops no publication', async () => {
    const { store } = await cutOff()
    for (const name of store.kept.keys()) store.kept.set(name, new TextEncoder().encode('{"version":5'))
    for (const bad of [NO_DEVICE, store])
      expect(await publishAgain(bad, once)).toMatchObject({ steps: ['signing'], signatures: 2 })
  })
})

it('a copy restricts a symbol that has changed under its name of today, so that no later rulebook lifts that', async () => {
  const restricted = ['AAPL', 'TSLA']
  const alice = chain().account('alice').toLowerCase()
  const of = (rule: typeof rules) => ({ ...policyOf({ [alice]: rule }), groups: { Desk: rule } })
  const policy = of({ ...rules, restricted })
  const client = clientOfServer('admin')
  const { copy, version } = await publishRulebook(client, policy)
  expect(await openRulebookCopy(client, copy, version)).toEqual(policy)
  const recordAt = await chain().now()
  await enact(chain(), { kind: 'SYMBOL_CHANGE', symbol: 'TSLA', successor: 'TSLX', recordAt })
  const today = of({ ...rules, restricted: ['AAPL', 'TSLX'] })
  expect(await openRulebookCopy(client, copy, version)).toEqual(today)
})

const key = `0x${'Ab'.repeat(20)}`
const many = Array.from({ length: 30_000 }, (_, at) => [`0x${at.toString(16).padStart(40, '0')}`, rules])
it.each<[string, Policy]>([
  ['an employee twice, in two cases', policyOf({ [key]: rules, [key.toLowerCase()]: rules })],
  ['an employee that is no address', policyOf({ '0x12': rules })],
  ['a symbol twice', policyOf({ [key]: { ...rules, restricted: ['AAPL', 'AAPL'] } })],
  ['more than fits', policyOf(Object.fromEntries(many))],
])('publishing a rulebook is refused with %s', async (_, policy) => {
  const client = clientOfServer('admin')
  await expect(publishRulebook(client, policy)).rejects.toMatchObject({ code: 'invalid-rulebook' })
  expect(posted()).toEqual([])
})

const policy = policyOf({ [`0x${'ab'.repeat(20)}`]: rules })

async function published() {
  const client = clientOfServer('admin')
  const { copy } = await publishRulebook(client, policy)
  if (copy === null) throw new Error('there is no copy')
  return { client, copy: rulebookCopySchema.parse(JSON.parse(JSON.stringify(copy))) }
}

it.each<[string, object]>([
  ['of another chain', { chainId: 1 }],
  ['of another platform', { escrow: `0x${'01'.repeat(20)}` }],
  ['of another institution', { orgId: `0x${'01'.repeat(32)}` }],
  ['of no known format', { format: 'service-rulebook-copy-v2' }],
])('the copy of a rulebook is refused when it is one %s', async (_, other) => {
  const { client, copy } = await published()
  const opening = openRulebookCopy(client, { ...copy, ...other }, 5)
  await expect(opening).rejects.toMatchObject({ code: 'invalid-copy' })
})

it('the copy of a rulebook is refused when it does not open, or holds what another wallet has signed', async () => {
  const { client, copy } = await published()
  const { publicKey } = await client.unlock()
  const altered = { ...copy, envelope: { ...copy.envelope, tag: `0x${'00'.repeat(16)}` } }
  const undecryptable = { code: 'copy-undecryptable' }
  await expect(openRulebookCopy(client, altered, 5)).rejects.toMatchObject(undecryptable)
  const { escrow, orgId } = copy
  const domain = { chainId: chain().anvil.chainId, escrow }
  const unsigned = { v: 1 as const, orgId, admin: chain().account('alice'), policy, version: 5 }
  const signature = walletOf(chain(), 'alice').signingKey.sign(policyIntentDigest(unsigned, domain))
  const rulebook = { ...unsigned, sig: hexOf(65).parse(signature.serialized) }
  const forged = await sealRulebookCopy(rulebook, publicKey, domain)
  await expect(openRulebookCopy(client, forged, 5)).rejects.toMatchObject({ code: 'invalid-copy' })
})

it('the copy of a rulebook opens for a contract wallet until its owners change, and then says so', async () => {
  await makeContractWallet(chain(), 'admin', 'bob')
  const [wallet, owner] = [walletOf(chain(), 'admin'), walletOf(chain(), 'bob')]
  wallet.signTypedData = async (...args) => {
    const signature = await owner.signTypedData(...args)
    return concat([signature, signature])
  }
  clientOfServer('admin')
  const client = clientOf(chain(), api, 'admin', { wallet })
  await client.importKeys(await client.drawKey())
  const { copy } = await publishRulebook(client, policy)
  expect(await openRulebookCopy(client, copy, 5)).toEqual(policy)
  await makeContractWallet(chain(), 'admin', 'carol')
  await expect(openRulebookCopy(client, copy, 5)).rejects.toMatchObject({ code: 'copy-unconfirmed' })
})

it('the copy of a rulebook is not made for a wallet that could not open it, which publishes all the same', async () => {
  const wallet = walletOf(chain(), 'admin')
  wallet.signMessage = (text) => signAtRandom(wallet.privateKey, String(text))
  clientOfServer('admin')
  const client = clientOf(chain(), api, 'admin', { wallet })
  expect(await publishRulebook(client, policy)).toEqual({ orgId: ORG_ID, version: 5, copy: null })
})
