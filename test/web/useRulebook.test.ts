import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { Client, Policy } from '../../src/client/index.js'
import { rulebookCopySchema } from '../../src/protocol/rulebookCopy.js'
import { keptCopy } from '../../web/institution/keptCopy.js'
import { useRulebook } from '../../web/institution/useRulebook.js'
import { readVectors } from '../support/vectors.js'
import { MemoryStorage } from './memoryStorage.js'
import { renderHook } from './support/renderHook.js'

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
  const session = { client: { openRulebookCopy, publishRulebook } }
  const hook = renderHook(() => useRulebook(session))
  return { hook, openRulebookCopy, publishRulebook }
}

it('what was opened is known, kept, and takes the place of what was written', async () => {
  const { hook, openRulebookCopy } = working()
  hook.current().edit((draft) => ({ ...draft, maxOrder: '7' }), { version: 1, policy: null })
  await vi.waitFor(() => expect(hook.current().draft).toMatchObject({ base: 1, maxOrder: '7' }))
  await hook.current().open(copy, 1)
  await vi.waitFor(() => expect(hook.current()).toMatchObject({ known: { version: 1, policy }, draft: null }))
  expect(openRulebookCopy).toHaveBeenCalledWith(copy, 1)
  expect(keptCopy(orgId)).toEqual(copy)
  hook.unmount()
})

it('a publication is signed for the version it was written from, and its rules are known and kept', async () => {
  const { hook, publishRulebook } = working()
  await hook.current().publish(policy, 1)
  expect(publishRulebook).toHaveBeenCalledWith(policy, { base: 1 })
  const ended = { known: { version: 2, policy }, published: 2, publishingSince: null, error: null }
  await vi.waitFor(() => expect(hook.current()).toMatchObject(ended))
  expect(keptCopy(orgId)).toEqual(copy)
  hook.unmount()
})

it('what is written goes on from the version that was published, and a new draft from the one that is given', async () => {
  const { hook } = working()
  hook.current().edit((draft) => ({ ...draft, maxOrder: '7' }), { version: 1, policy })
  await hook.current().publish(policy, 1)
  await vi.waitFor(() => expect(hook.current().draft).toMatchObject({ base: 2, maxOrder: '7' }))
  hook.current().edit((draft) => ({ ...draft, maxOrder: '8' }), { version: 3, policy })
  // Version 3 came from elsewhere: the draft stays one that was begun from version 2.
  await vi.waitFor(() => expect(hook.current().draft).toMatchObject({ base: 2, maxOrder: '8' }))
  hook.current().restart()
  await vi.waitFor(() => expect(hook.current().draft).toBeNull())
  hook.current().edit((draft) => draft, { version: 3, policy })
  await vi.waitFor(() => expect(hook.current().draft).toMatchObject({ base: 3, maxOrder: '20000' }))
  hook.unmount()
})

it('a publication that fails leaves what was known and written', async () => {
  const { hook, publishRulebook } = working()
  const failure = new Error('the enclave refused it')
  publishRulebook.mockRejectedValue(failure)
  hook.current().edit((draft) => ({ ...draft, maxOrder: '7' }), { version: 1, policy })
  await hook.current().publish(policy, 1)
  await vi.waitFor(() =>
    expect(hook.current()).toMatchObject({ error: failure, known: null, published: null }),
  )
  expect(hook.current().draft).toMatchObject({ base: 1, maxOrder: '7' })
  expect(keptCopy(orgId)).toBeNull()
  hook.unmount()
})

it('a browser that keeps nothing costs the copy in it alone', async () => {
  vi.stubGlobal('localStorage', undefined)
  const { hook } = working()
  await hook.current().publish(policy, 1)
  await vi.waitFor(() => expect(hook.current()).toMatchObject({ published: 2, copy, error: null }))
  expect(keptCopy(orgId)).toBeNull()
  hook.unmount()
})
