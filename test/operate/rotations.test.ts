// Rotations that take their time, as on a chain of value.
import { describe, expect, it } from 'vitest'
import { useChain } from '../support/chain.js'
import { operate } from '../support/operate.js'
import { directoryOf, keyOf } from './operateUnderTest.js'

const DELAY = 2 * 86_400
const chain = useChain(undefined, { delays: { rotation: DELAY } })

async function signer(...args: string[]) {
  const env = { RPC_URL: chain().anvil.rpcUrl, OWNER_PRIVATE_KEY: keyOf(chain(), 'owner') }
  return operate(['signer', ...args, '--yes', '--directory', await directoryOf(chain())], { env })
}

describe('operate signer, with a delay', () => {
  it('says when it takes effect, and begins the delay only once', async () => {
    const [bob, before] = [chain().account('bob'), await chain().read('authority', 'enclaveSigner')]
    const first = await signer(bob)
    expect(first).toMatchObject({ exit: 0, out: 'done: signer\n' })
    expect(first.err).toContain(`will make ${bob} the signer in 2 days, in place of ${String(before)}`)
    const pending = await chain().read('authority', 'pendingRotation', 2)
    expect(await signer(bob)).toMatchObject({ exit: 0, out: 'nothing to do\n' })
    expect(await chain().read('authority', 'pendingRotation', 2)).toEqual(pending)
    expect(await chain().read('authority', 'enclaveSigner')).toBe(before)
    await chain().mineAt((await chain().now()) + DELAY)
    expect(await chain().read('authority', 'enclaveSigner')).toBe(bob)
  })

  it('withdraws a scheduled change, once', async () => {
    const before = await chain().read('authority', 'enclaveSigner')
    await signer(chain().account('bob'))
    expect(await signer('--withdraw')).toMatchObject({ exit: 0, out: 'done: signer\n' })
    expect(await signer('--withdraw')).toMatchObject({ exit: 0, out: 'nothing to do\n' })
    await chain().mineAt((await chain().now()) + DELAY)
    expect(await chain().read('authority', 'enclaveSigner')).toBe(before)
  })

  it('schedules the present signer anew only to replace a scheduled one', async () => {
    const before = String(await chain().read('authority', 'enclaveSigner'))
    expect(await signer(before)).toMatchObject({ out: 'nothing to do\n' })
    await signer(chain().account('bob'))
    expect(await signer(before)).toMatchObject({ out: 'done: signer\n' })
  })
})
