import { signal } from '@preact/signals'
import { expect, it, vi } from 'vitest'
import * as z from 'zod'
import { ClientError, type Policy, type PortfolioKey } from '../../src/client/index.js'
import { rulebookCopySchema } from '../../src/protocol/rulebookCopy.js'
import { createRulebookWork, type RulebookCalls } from '../../web/state/rulebookWork.js'
import { readVectors } from '../support/vectors.js'

const { copy } = readVectors('rulebookCopy', z.object({ copy: rulebookCopySchema }))
const { orgId } = copy
const policy: Policy = { employees: {}, maxOrderNotional: 20_000_000_000n, allowWithdrawShares: false }
const key: PortfolioKey = { privateKey: new Uint8Array(), publicKey: '0x', drawnAt: 0, portfolioVersion: 0n }
const failure = new ClientError('server-timeout', 'no answer')

/** The work of a page whose client answers so. */
function working(answers: Partial<RulebookCalls> = {}) {
  const publishRulebook = vi
    .fn<RulebookCalls['publishRulebook']>()
    .mockResolvedValue({ orgId, version: 2, copy })
  const calls: RulebookCalls = {
    getRulebookVersion: async () => ({ orgId, version: 1 }),
    unlock: async () => key,
    getRulebookCopy: async () => null,
    openRulebookCopy: async () => policy,
    publishRulebook,
    getKeptPublication: async () => null,
    resumePublication: async () => ({ orgId, version: 2, copy }),
    forgetPublication: async () => {},
    ...answers,
  }
  const derivesNone = signal(false)
  return { work: createRulebookWork(calls, derivesNone), publishRulebook, derivesNone }
}

it('the draft goes on from the version that was published, and a new draft from the one that is given', async () => {
  const { work, publishRulebook } = working()
  work.edit((draft) => ({ ...draft, maxOrder: '7' }), { version: 1, policy })
  await work.publish(policy, 1)
  expect(work.state.value.draft).toMatchObject({ base: 2, maxOrder: '7' })
  work.edit((draft) => ({ ...draft, maxOrder: '8' }), { version: 3, policy })
  // Version 3 came from elsewhere: the draft stays one that was begun from version 2.
  expect(work.state.value.draft).toMatchObject({ base: 2, maxOrder: '8' })
  // A server that has not seen this page's own publication yet holds up nothing.
  await work.publish(policy, 2)
  expect(publishRulebook).toHaveBeenCalledTimes(2)
  work.restart()
  expect(work.state.value.draft).toBeNull()
  work.edit((draft) => draft, { version: 3, policy })
  expect(work.state.value.draft).toMatchObject({ base: 3, maxOrder: '20000' })
})

it('a publication that fails leaves what was known and written, and offers what the client keeps of it until its admin gives it up', async () => {
  const forgetPublication = vi.fn<RulebookCalls['forgetPublication']>().mockResolvedValue()
  const { work, publishRulebook } = working({ getKeptPublication: async () => 2, forgetPublication })
  publishRulebook.mockRejectedValue(failure)
  work.edit((draft) => ({ ...draft, maxOrder: '7' }), { version: 1, policy })
  await work.publish(policy, 1)
  expect(work.state.value).toMatchObject({ error: failure, published: null, cutOff: 2 })
  expect(work.state.value.draft).toMatchObject({ base: 1, maxOrder: '7' })
  expect(work.state.value.policies.size).toBe(0)
  await work.resume()
  expect(work.state.value).toMatchObject({ error: null, published: 2, cutOff: null })
  await work.load(orgId, 1)
  expect(work.state.value.cutOff).toBe(2)
  await work.forget()
  expect(work.state.value.cutOff).toBeNull()
  expect(forgetPublication).toHaveBeenCalledOnce()
})

it('a browser that keeps nothing costs the copies in it alone', async () => {
  const { work } = working({
    getRulebookCopy: () => Promise.reject(failure),
    getKeptPublication: () => Promise.reject(failure),
  })
  await work.load(orgId, 1)
  await work.publish(policy, 1)
  expect(work.state.value).toMatchObject({ published: 2, copies: new Map([[2, copy]]), error: null })
})

it('a wallet that derives no key is told so before it signs, and publishes without a copy at the next press alone', async () => {
  const noKey = new ClientError('contract-wallet', 'a contract derives no key')
  const unlock = () => Promise.reject(noKey)
  const opening = working({ openRulebookCopy: unlock })
  await expect(opening.work.open(copy, 1)).rejects.toBe(noKey)
  expect(opening.derivesNone.value).toBe(true)
  const { work, publishRulebook, derivesNone } = working({ unlock })
  publishRulebook.mockResolvedValue({ orgId, version: 2, copy: null })
  await work.publish(policy, 1)
  expect(publishRulebook).not.toHaveBeenCalled()
  expect(derivesNone.value).toBe(true)
  expect(work.state.value).toMatchObject({ published: null, error: null, publishingSince: null })
  await work.publish(policy, 1)
  expect(work.state.value).toMatchObject({ published: 2, error: null })
})
