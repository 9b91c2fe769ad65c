import { expect, test } from 'vitest'
import { createAuthority } from '../../src/chain/contracts.js'
import { RECLAIM_DELAY } from '../../src/protocol/reclaimDelay.js'
import { useChain } from '../support/chain.js'
import { ENCLAVE_SIGNER } from '../support/roles.js'

const DELAY = 86_400
const chain = useChain(async () => {}, { delays: { rotation: DELAY } })

const authority = () => createAuthority(chain().provider, chain().addressOf('authority'))

test('the delay before a reclaim is the contract’s', async () => {
  expect(await chain().read('authority', 'RECLAIM_DELAY')).toBe(BigInt(RECLAIM_DELAY))
})

test('the signer is the contract’s, and nothing is pending', async () => {
  const { enclaveSigner, pendingRotation, pausedUntil } = authority()
  expect(await enclaveSigner()).toBe(ENCLAVE_SIGNER)
  expect(await pendingRotation('signer')).toBeNull()
  expect(await pausedUntil()).toBe(0)
})

test.each([
  ['owner', 'rotateOwner'],
  ['guardian', 'rotateGuardian'],
  ['signer', 'rotateSigner'],
] as const)('who takes the role of the %s over, until it has', async (role, rotate) => {
  const to = chain().account('carol')
  await chain().send('owner', 'authority', rotate, to)
  const effectiveAt = (await chain().now()) + DELAY
  expect(await authority().pendingRotation(role)).toEqual({ to, effectiveAt })
  await chain().mineAt(effectiveAt)
  expect(await authority().pendingRotation(role)).toBeNull()
  expect(await chain().read('authority', role === 'signer' ? 'enclaveSigner' : role)).toBe(to)
})

test('the end of a pause is the contract’s', async () => {
  await chain().send('guardian', 'authority', 'pause')
  const until = await authority().pausedUntil()
  expect(until).toBeGreaterThan(await chain().now())
  await chain().send('owner', 'authority', 'liftPause')
  expect(await authority().pausedUntil()).toBe(0)
})
