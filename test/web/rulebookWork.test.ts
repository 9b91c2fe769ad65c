import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { Client, Policy } from '../../src/client/index.js'
import { rulebookCopySchema } from '../../src/protocol/rulebookCopy.js'
import { keptCopy } from '../../web/institution/keptCopy.js'
import { createRulebookWork } from '../../web/state/rulebookWork.js'
import { readVectors } from '../support/vectors.js'
import { MemoryStorage } from './memoryStorage.js'

const { copy } = readVectors('rulebookCopy', z.object({ copy: rulebookCopySchema }))
const { orgId } = copy
const policy: Policy = { employees: {}, maxOrderNotional: 20_000_000_000n, allowWithdrawShares: false }

beforeEach(() => {
  vi.stubGlobal('localStorage', new MemoryStorage())
})
afterEach(() => {
  vi.unstubAllGlobals()
})

function working() {
  const openRulebookCopy = vi.fn<Client['openRulebookCopy']>().mockResolvedValue(policy)
  const publishRulebook = vi.fn<Client['publishRulebook']>().mockResolvedValue({ orgId, version: 2, copy })
  return {
    work: createRulebookWork({ openRulebookCopy, publishRulebook }),
    openRulebookCopy,
    publishRulebook,
  }
}

it('an opened rulebook is known, kept, and takes the place of the draft', async () => {
  const { work, openRulebookCopy } = working()
  work.edit((draft) => ({ ...draft, maxOrder: '7' }), { version: 1, policy: null })
  expect(work.state.value.draft).toMatchObject({ base: 1, maxOrder: '7' })
  await work.open(copy, 1)
  expect(work.state.value).toMatchObject({ known: { version: 1, policy }, draft: null })
  expect(openRulebookCopy).toHaveBeenCalledWith(copy, 1)
  expect(keptCopy(orgId)).toEqual(copy)
})

it('a publication is signed for the version it was written from, and its rules are known and kept', async () => {
  const { work, publishRulebook } = working()
  await work.publish(policy, 1)
  expect(publishRulebook).toHaveBeenCalledWith(policy, { base: 1 })
  const ended = { known: { version: 2, policy }, published: 2, publishingSince: null, error: null }
  expect(work.state.value).toMatchObject(ended)
  expect(keptCopy(orgId)).toEqual(copy)
})

it('the draft goes on from the version that was published, and a new draft from the one that is given', async () => {
  const { work } = working()
  work.edit((draft) => ({ ...draft, maxOrder: '7' }), { version: 1, policy })
  await work.publish(policy, 1)
  expect(work.state.value.draft).toMatchObject({ base: 2, maxOrder: '7' })
  work.edit((draft) => ({ ...draft, maxOrder: '8' }), { version: 3, policy })
  // Version 3 came from elsewhere: the draft stays one that was begun from version 2.
  expect(work.state.value.draft).toMatchObject({ base: 2, maxOrder: '8' })
  work.restart()
  expect(work.state.value.draft).toBeNull()
  work.edit((draft) => draft, { version: 3, policy })
  expect(work.state.value.draft).toMatchObject({ base: 3, maxOrder: '20000' })
})

it('a publication that fails leaves what was known and written', async () => {
  const { work, publishRulebook } = working()
  const failure = new Error('the enclave refused it')
  publishRulebook.mockRejectedValue(failure)
  work.edit((draft) => ({ ...draft, maxOrder: '7' }), { version: 1, policy })
  await work.publish(policy, 1)
  expect(work.state.value).toMatchObject({ error: failure, known: null, published: null })
  expect(work.state.value.draft).toMatchObject({ base: 1, maxOrder: '7' })
  expect(keptCopy(orgId)).toBeNull()
})

it('a browser that keeps nothing costs the copy in it alone', async () => {
  vi.stubGlobal('localStorage', undefined)
  const { work } = working()
  await work.publish(policy, 1)
  expect(work.state.value).toMatchObject({ published: 2, copy, error: null })
  expect(keptCopy(orgId)).toBeNull()
})
