import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { Publication } from '../../src/client/admin.js'
import { ClientError, type Policy, ServerError } from '../../src/client/index.js'
import { rulebookCopySchema } from '../../src/protocol/rulebookCopy.js'
import type { DeviceStore } from '../../web/state/browser.js'
import { createKeptCopies } from '../../web/state/keptCopies.js'
import { createRulebookWork, type RulebookCalls } from '../../web/state/rulebookWork.js'
import { createMemoryDevice, NO_DEVICE } from '../support/memoryDevice.js'
import { readVectors } from '../support/vectors.js'
import { useMemoryStorage } from './memoryStorage.js'

const { copy } = readVectors('rulebookCopy', z.object({ copy: rulebookCopySchema }))
const { orgId } = copy
const policy: Policy = { employees: {}, maxOrderNotional: 20_000_000_000n, allowWithdrawShares: false }

useMemoryStorage()

function working(device: DeviceStore = createMemoryDevice()) {
  const openRulebookCopy = vi.fn<RulebookCalls['openRulebookCopy']>().mockResolvedValue(policy)
  const publishRulebook = vi
    .fn<RulebookCalls['publishRulebook']>()
    .mockResolvedValue({ orgId, version: 2, copy })
  const resumeRulebook = vi
    .fn<RulebookCalls['resumeRulebook']>()
    .mockResolvedValue({ orgId, version: 2, copy })
  const getRulebookVersion = vi
    .fn<RulebookCalls['getRulebookVersion']>()
    .mockResolvedValue({ orgId, version: 1 })
  const kept = createKeptCopies(device, copy)
  return {
    work: createRulebookWork({ getRulebookVersion, openRulebookCopy, publishRulebook, resumeRulebook }, kept),
    ...{ kept, getRulebookVersion, openRulebookCopy, publishRulebook, resumeRulebook },
  }
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

it('a publication that fails leaves what was known and written', async () => {
  const { work, kept, publishRulebook } = working()
  const failure = new Error('the enclave refused it')
  publishRulebook.mockRejectedValue(failure)
  work.edit((draft) => ({ ...draft, maxOrder: '7' }), { version: 1, policy })
  await work.publish(policy, 1)
  expect(work.state.value).toMatchObject({ error: failure, published: null })
  expect(work.state.value.draft).toMatchObject({ base: 1, maxOrder: '7' })
  expect(work.state.value.policies.size).toBe(0)
  expect(await kept.of(orgId)).toEqual([])
})

describe('a publication whose answer is lost', () => {
  const author = { orgId, sig: `0x${'11'.repeat(65)}` } as const
  const publication: Publication = { version: 2, body: { ...copy.envelope, author }, copy }

  /** A visit that ends after it has posted. */
  async function lost(failure: unknown) {
    const device = createMemoryDevice()
    const { work, publishRulebook } = working(device)
    publishRulebook.mockImplementation(async (_policy, { beforePost } = {}) => {
      await beforePost?.(publication)
      throw failure
    })
    await work.publish(policy, 1)
    return { device, work }
  }

  it('is forgotten once the enclave has refused it, or its admin says so', async () => {
    const refusal = new ServerError(422, null, null, {
      ...{ type: '/errors#policy-rejected', title: 'Rulebook rejected', status: 422, requestId: 'r' },
      ...{ detail: '', instance: '/policy' },
      code: 'policy-rejected',
    })
    const { device, work } = await lost(refusal)
    expect(work.state.value).toMatchObject({ cutOff: null, error: refusal })
    expect(await working(device).kept.onItsWay(orgId)).toBeNull()
    const other = await lost(new ClientError('server-timeout', 'no answer'))
    await other.work.forget()
    expect(await working(other.device).kept.onItsWay(orgId)).toBeNull()
  })
})

it('a browser that keeps nothing costs the copies in it alone', async () => {
  vi.stubGlobal('localStorage', undefined)
  const { work, kept } = working(NO_DEVICE)
  await work.load(orgId)
  await work.publish(policy, 1)
  expect(work.state.value).toMatchObject({ published: 2, copies: new Map([[2, copy]]), error: null })
  expect(await kept.of(orgId)).toEqual([])
})

it('every copy on this device is read, damaged and foreign ones left out, and the one of before the history moved', async () => {
  const device = createMemoryDevice()
  const { work, kept } = working(device)
  localStorage.setItem(`desk:rulebook:${orgId}`, JSON.stringify(z.encode(rulebookCopySchema, copy)))
  await kept.keep({ ...copy, version: 3 })
  await kept.keep({ ...copy, version: 4, chainId: copy.chainId + 1 })
  await kept.keep({ ...copy, version: 5, orgId: `0x${'09'.repeat(32)}` })
  for (const [name, bytes] of device.kept)
    if (name.endsWith('/3')) device.kept.set(`${name}0`, bytes.slice(1))
  expect(work.state.value.copies).toBeNull()
  await work.load(orgId)
  expect([...(work.state.value.copies?.keys() ?? [])].sort()).toEqual([copy.version, 3])
  expect(localStorage.length).toBe(0)
})
