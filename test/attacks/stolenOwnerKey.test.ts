// Actor: a thief of the owner's key, or the owner himself.
// Cost: the gas of a few transactions.
// Effect: the whole pool at once: name a signer of his own, clear himself, open a request, and settle it
// with a payout of everything.
// Now: a rotation takes effect after a delay, in public, and until then the owner can withdraw it. The delay
// alone protects: the thief can lift the guardian's pause, and the pool is lost once the delay has passed.
import { describe, expect, it } from 'vitest'
import { type Hex, ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { orderOf, settlement, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { DAY, openBuy, openRequest, setUpInstitution, USDC, usd } from '../support/institution.js'

const THIEFS_KEY: Hex = `0x${'d3'.repeat(32)}`
const THIEFS_SIGNER: Hex = '0xaaf3b12ac90aD80587cb42e0e0853f98Ca8ED1e9'
const ROTATION = 2 * DAY
const PAUSE = 3 * DAY
/** No measurement, no configuration. */
const UNATTESTED = [ZERO_BYTES32, ZERO_BYTES32]

const chain = useChain(setUpInstitution, { delays: { rotation: ROTATION, pause: PAUSE } })

/** The pool's USDC, which the thief wants. */
async function fundPool(): Promise<bigint> {
  await chain().send('bob', 'usdc', 'approve', chain().addressOf('pool'), usd(10_000))
  await chain().send('bob', 'pool', 'fund', usd(10_000))
  return usd(10_000)
}

/** Settles a request of dave's, the thief's wallet, with a payout of the whole pool. */
async function robbery(payout: bigint) {
  await chain().send('owner', 'token', 'setKyc', chain().account('dave'), true)
  const orderId = await openRequest(chain(), 'dave', 'a request for everything')
  const order = await orderOf(chain(), orderId)
  await chain().send('owner', 'authority', 'rotateSigner', THIEFS_SIGNER, ...UNATTESTED)
  return signedCall(chain(), settlement(order, { payoutAsset: USDC, payout }), { key: THIEFS_KEY })
}

async function usdcOf(holder: string): Promise<bigint> {
  return BigInt(String(await chain().read('usdc', 'balanceOf', holder)))
}

describe('the owner’s key alone', () => {
  it('takes the whole pool once the delay has passed, if the owner has let it pass', async () => {
    const pool = await fundPool()
    const call = await robbery(pool)
    await chain().mineAt((await chain().now()) + ROTATION + 60)
    await chain().send('dave', ...call)
    expect(await usdcOf(chain().account('dave'))).toBe(pool)
    expect(await usdcOf(chain().addressOf('pool'))).toBe(0n)
  })

  it('pays nothing out of the pool before the rotation’s delay has passed', async () => {
    const call = await robbery(await fundPool())
    expect(await chain().revert('dave', ...call)).toMatchObject({ name: 'InvalidSigner' })
    await chain().mineAt((await chain().now()) + ROTATION - 60)
    expect(await chain().revert('dave', ...call)).toMatchObject({ name: 'InvalidSigner' })
  })

  it('pays nothing when the rotation was withdrawn in time', async () => {
    const call = await robbery(await fundPool())
    await chain().send('owner', 'authority', 'withdrawRotation', 2)
    await chain().mineAt((await chain().now()) + ROTATION + 60)
    expect(await chain().revert('dave', ...call)).toMatchObject({ name: 'InvalidSigner' })
  })

  it('cannot shorten the delay: a second rotation begins it anew', async () => {
    const call = await robbery(await fundPool())
    await chain().mineAt((await chain().now()) + ROTATION - 60)
    await chain().send('owner', 'authority', 'rotateSigner', THIEFS_SIGNER, ...UNATTESTED)
    await chain().mineAt((await chain().now()) + ROTATION - 60)
    expect(await chain().revert('dave', ...call)).toMatchObject({ name: 'InvalidSigner' })
  })

  it('moves the treasury to the broker and nowhere else', async () => {
    const pool = await fundPool()
    const broker = chain().account('broker')
    const before = await usdcOf(broker)
    const toOwner = await chain().revert('owner', 'pool', 'payout', chain().account('owner'), USDC, pool)
    expect(toOwner).toMatchObject({ name: 'NotEscrow' })
    await chain().send('owner', 'pool', 'transferTreasury', pool)
    expect((await usdcOf(broker)) - before).toBe(pool)
  })
})

describe('the guardian', () => {
  it('stops openings and everything that the enclave signs, and outlasts a rotation', async () => {
    const call = await robbery(await fundPool())
    await chain().send('guardian', 'authority', 'pause')
    await chain().mineAt((await chain().now()) + ROTATION + 60)
    expect(await chain().revert('dave', ...call)).toMatchObject({ name: 'PlatformPaused' })
    await expect(openBuy(chain(), 'alice', 'a buy', usd(100))).rejects.toThrow()
  })

  it('pauses again at once after the thief has lifted a pause', async () => {
    const call = await robbery(await fundPool())
    await chain().send('guardian', 'authority', 'pause')
    await chain().send('owner', 'authority', 'liftPause')
    await chain().mineAt((await chain().now()) + ROTATION - 60)
    await chain().send('guardian', 'authority', 'pause')
    await chain().mineAt((await chain().now()) + 60)
    expect(await chain().revert('dave', ...call)).toMatchObject({ name: 'PlatformPaused' })
  })

  it('cannot pause for longer than the pause lasts, nor again for thirty days, nor do anything else', async () => {
    await chain().send('guardian', 'authority', 'pause')
    const until = Number(await chain().read('authority', 'pausedUntil'))
    await chain().mineAt(until)
    expect(await chain().read('authority', 'pausedUntil')).toBe(0n)
    expect(await chain().revert('guardian', 'authority', 'pause')).toMatchObject({ name: 'PauseTooEarly' })
    await chain().mineAt(until + 30 * DAY)
    expect(await chain().revert('guardian', 'authority', 'pause')).toBeNull()
    for (const [contract, method, ...args] of [
      ['authority', 'rotateSigner', chain().account('guardian'), ...UNATTESTED],
      ['authority', 'liftPause'],
      ['token', 'setKyc', chain().account('guardian'), true],
      ['pool', 'transferTreasury', 1n],
    ] as const) {
      expect(await chain().revert('guardian', contract, method, ...args)).toMatchObject({ name: 'NotOwner' })
    }
  })

  it('keeps no employee’s money: a reclaim goes through while the platform is paused', async () => {
    const orderId = await openBuy(chain(), 'alice', 'an unanswered buy', usd(100))
    await chain().mineAt((await chain().now()) + 8 * DAY)
    await chain().send('guardian', 'authority', 'pause')
    const before = await usdcOf(chain().account('alice'))
    await chain().send('alice', 'escrow', 'reclaim', orderId)
    expect((await usdcOf(chain().account('alice'))) - before).toBe(usd(100))
  })
})
