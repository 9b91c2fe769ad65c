// Orders whose escrows the relay opens: who pays, who is refused, and that each is opened once.
import { toQuantity } from 'ethers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commitOf } from '../../../src/protocol/envelope.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { afterWrites, orderOf, refund, signedCall } from '../../support/authorizations.js'
import { type ContractKey, INTERFACES } from '../../support/chain.js'
import { eventually } from '../../support/eventually.js'
import { bytes32, FUNDS, ORG, openBuy, openRequest, usd } from '../../support/institution.js'
import { sealOrder } from '../../support/intakeServer.js'
import { TOKEN } from '../../support/limitedApp.js'
import { openQuickly } from '../../support/quickStores.js'
import type { Role } from '../../support/roles.js'
import { sponsoredOrder } from '../../support/sponsoredOrders.js'
import { storedRows } from '../../support/storedRows.js'
import { putRow } from '../../support/stores.js'
import { useUtcDay } from '../../support/utcDay.js'
import { bodyOf, MINT, mine, mineAgain, minedOfRelayer, pooled, stopMining } from '../relay/relayUnderTest.js'
import { ORDER, useOrders } from './ordersUnderTest.js'

useUtcDay(60_000)

const { chain, setUp: start } = useOrders()
const OTHER = bytes32('another order')

async function setUp(overrides: Record<string, string> = {}) {
  onTestFinished(() => mineAgain(chain()))
  const server = await start(overrides)
  await server.enclave.plan({ any: [{ outcome: 'queued', retryAt: 4_000_000_000 }] })
  const before = await minedOfRelayer(chain())
  return {
    ...server,
    /** The relayer's transactions since the start. */
    sent: async () => (await minedOfRelayer(chain())) - before,
    isOpen: (orderId: Hex = ORDER) =>
      eventually('it is open', async () => {
        const { body } = await server.api.get(`/orders/${orderId}`)
        return body.state === 'OPEN'
      }),
    /** The ids of the orders that are stored. */
    stored: () => storedRows(server.dataDir, 'orders').map(({ id }) => id),
  }
}

const order = (changes: Parameters<typeof sponsoredOrder>[3] = {}, role: Role = 'alice', id = ORDER) =>
  sponsoredOrder(chain(), role, id, changes)
const of = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]
const usdcOf = (address: Hex) => chain().read('usdc', 'balanceOf', address)

/** Sends a transaction of another account, ahead of the relayer's in the next block. */
async function goFirst(from: Role, to: ContractKey, method: string, ...args: unknown[]): Promise<void> {
  const data = INTERFACES[to].encodeFunctionData(method, args)
  const tip = toQuantity(10n ** 12n)
  const transaction = {
    from: chain().account(from),
    to: chain().addressOf(to),
    data,
    gas: toQuantity(500_000),
  }
  await chain().provider.send('eth_sendTransaction', [
    { ...transaction, maxFeePerGas: tip, maxPriorityFeePerGas: tip },
  ])
}

const KINDS: [string, bigint][] = [
  ['a buy', usd(1_000)],
  ['a request', 0n],
]

describe('an order with its opening', () => {
  test.each(KINDS)(
    '%s is opened for an account without ether and without an approval, and runs',
    async (_, amount) => {
      const server = await setUp()
      await chain().send('alice', 'usdc', 'approve', chain().addressOf('escrow'), 0n)
      await chain().provider.send('anvil_setBalance', [chain().account('alice'), '0x0'])
      const body = await order({ amount })
      const { opening: _opening, orderId: _orderId, ...envelope } = body
      const answer = await server.post(body)
      expect([answer.status, answer.headers.location]).toEqual([202, `/orders/${ORDER}`])
      expect(answer.body).toMatchObject({ orderId: ORDER, result: 'received', commit: commitOf(envelope) })
      await server.isOpen()
      expect(await server.status()).toMatchObject({
        account: chain().account('alice'),
        amount: `${amount}`,
        commit: commitOf(envelope),
        receivedAt: answer.body.receivedAt,
      })
      expect(await server.status()).not.toHaveProperty('opening')
      await eventually('its run', async () => (await server.commitsRun()).length > 0)
      const { body: timeline } = await server.api.get(`/orders/${ORDER}/timeline`)
      const kinds = timeline.entries.map(({ kind }: { kind: string }) => kind)
      expect(kinds.slice(0, 3)).toEqual(['received', 'opening', 'opened'])
      expect(await server.commitsRun()).toEqual([commitOf(envelope)])
      expect(await usdcOf(chain().account('alice'))).toBe(FUNDS - amount)
      expect(await server.sent()).toBe(1)
    },
  )

  test('is opened by the next start where the server stops before its block', async () => {
    const server = await setUp()
    await stopMining(chain())
    expect((await server.post(await order())).status).toBe(202)
    await server.stop()
    const next = await server.restart()
    await eventually('it is sent', async () => (await pooled(chain())) === 1)
    await mine(chain())
    await eventually('it is open', async () => (await next.status()).state === 'OPEN')
    expect(await server.sent()).toBe(1)
  })

  test('finds room where strangers have filled it with envelopes without escrows', async () => {
    const server = await setUp({ ENVELOPE_MAX_WAITING: '1' })
    expect((await server.post({ orderId: OTHER, ...(await sealOrder('junk')) })).status).toBe(202)
    expect((await server.post({ orderId: bytes32('more'), ...(await sealOrder('more')) })).status).toBe(503)
    expect((await server.post(await order())).status).toBe(202)
    await server.isOpen()
  })

  test.each(KINDS)('%s is opened although the last other order ends just before it', async (_, amount) => {
    const server = await setUp()
    const last = await openBuy(chain(), 'alice', 'the last other', usd(10))
    await stopMining(chain())
    expect((await server.post(await order({ amount }))).status).toBe(202)
    await eventually('it is sent', async () => (await pooled(chain())) === 1)
    const end = refund(await orderOf(chain(), last), {
      ...afterWrites(0n),
      enclaveBlob: '0x',
      userBlob: '0x',
      version: 0n,
    })
    await goFirst('carol', ...signedCall(chain(), end))
    await mine(chain())
    await eventually('its end', () =>
      storedRows(server.dataDir, 'relays').every(({ is_open }) => is_open === 0),
    )
    expect(await chain().read('escrow', 'openOrders')).toBe(1n)
    expect(await server.status()).toMatchObject({ state: 'OPEN' })
    expect(await server.sent()).toBe(1)
  })
})

describe('refused, nothing is stored and nothing is sent:', () => {
  /** The answer's code; `revert` by name. */
  async function refused(server: Awaited<ReturnType<typeof setUp>>, body: object) {
    const answer = await server.post(body)
    expect(server.stored()).toEqual([])
    expect(storedRows(server.dataDir, 'relays')).toEqual([])
    expect(storedRows(server.dataDir, 'state').filter(({ id }) => id.startsWith('opening:'))).toEqual([])
    expect(await server.sent()).toBe(0)
    return [...of(answer), answer.body.revert?.name]
  }

  test('an opening that the escrow would revert now', async () => {
    const server = await setUp()
    const unpaid = await refused(server, await order({ amount: FUNDS + 1n }))
    expect(unpaid).toEqual([422, 'would-revert', 'ERC20InsufficientBalance'])
    await openRequest(chain(), 'bob', 'a copied id')
    const copied = await order({}, 'alice', bytes32('a copied id'))
    const answer = await server.post(copied)
    expect([answer.status, answer.body.revert]).toEqual([
      422,
      { name: 'OrderIdTaken', args: { orderId: copied.orderId, by: chain().account('bob') } },
    ])
    expect(server.stored()).not.toContain(copied.orderId)
  })

  // test/server/openapi/contract.test.ts has a wallet that is in no institution.
  test('the opening of a wallet whose institution is not admitted', async () => {
    const server = await setUp()
    await chain().send('owner', 'registry', 'setAdmitted', ORG, chain().account('admin'), false)
    const code = await refused(server, await order({ amount: 0n }))
    expect(code).toEqual([422, 'opening-not-sponsored', undefined])
  })
})

describe('an account', () => {
  test('has one opening of an id under way, also under another id with the same first bytes', async () => {
    const server = await setUp()
    await stopMining(chain())
    const first = await order()
    expect((await server.post(first)).status).toBe(202)
    expect(['pending', 'submitted']).toContain((await server.status()).opening.status)
    expect((await server.api.get(`/orders/${ORDER.slice(0, 34)}${'00'.repeat(16)}`)).status).toBe(404)
    const { opening, orderId: _orderId, ...envelope } = first
    const again = await order({ validBefore: Number(opening.validBefore) + 60, envelope })
    expect(of(await server.post(again))).toEqual([409, 'opening-under-way'])
    const alike: Hex = `0x${ORDER.slice(2, 34)}${'00'.repeat(16)}`
    expect(of(await server.post(await order({}, 'bob', alike)))).toEqual([409, 'opening-under-way'])
    expect(server.stored()).toEqual([ORDER])
    await eventually('it is sent', async () => (await pooled(chain())) === 1)
    await mine(chain())
    // The order is there, so a second signature for it opens nothing, and one of another order has lost the id.
    await eventually('the first is over', async () => (await server.post(again)).status === 202)
    const late = await server.post(await order({}, 'bob', alike))
    expect([...of(late), late.body.revert?.name]).toEqual([422, 'would-revert', 'OrderIdTaken'])
    expect(await server.sent()).toBe(1)
  })

  test.each([
    ['a moment ago', 0, 'opening-under-way'],
    ['an hour ago', -3_600_000, undefined],
    ['in an hour, by a clock that was set back since', 3_600_000, undefined],
  ])('finds an opening of the id that was claimed and never relayed: %s', async (_, ms, refusal) => {
    const server = await setUp()
    await server.stop()
    const engine = await openQuickly(server.dataDir)
    const doc = JSON.stringify({ digest: OTHER, at: new Date(Date.now() + ms).toISOString() })
    const claim = { id: `opening:${ORDER.slice(0, 34)}`, version: 1, isOpen: false, uniqueKey: null, doc }
    expect(await putRow(engine, 'state', claim)).toBe('written')
    await engine.stop()
    const next = await server.restart()
    expect((await next.post(await order())).body.code).toBe(refusal)
    if (refusal === undefined)
      await eventually('it is open', async () => (await next.status()).state === 'OPEN')
  })

  test('leaves half of the transactions in flight, and a queue of its own, to what the enclave signs', async () => {
    const limits = { RELAY_MAX_IN_FLIGHT: '2', RELAY_MAX_QUEUED: '0', RELAY_MAX_OPENINGS: '2' }
    const server = await setUp(limits)
    await stopMining(chain())
    expect((await server.post(await order())).status).toBe(202)
    expect((await server.post(await order({ amount: 0n }, 'alice', OTHER))).status).toBe(202)
    expect(of(await server.post(await order({ amount: 0n }, 'alice', bytes32('a third'))))).toEqual([
      503,
      'relay-overloaded',
    ])
    const signed = server.api.post('/relay').set({ ...TOKEN, Prefer: 'wait=0' })
    const { status, headers } = await signed.send(bodyOf(chain(), MINT))
    expect(status).toBe(202)
    await eventually('the enclave’s is sent', async () => {
      const { body } = await server.api.get(headers.location ?? '').set(TOKEN)
      return body.status === 'submitted'
    })
    expect(await pooled(chain())).toBe(2)
    await mineAgain(chain())
    await server.isOpen()
    await server.isOpen(OTHER)
    expect(await server.sent()).toBe(3)
  })

  test('pays for an opening that it has made fail itself', async () => {
    const server = await setUp({ RELAY_ACCOUNT_DAILY_GAS: '21000' })
    await stopMining(chain())
    expect((await server.post(await order())).status).toBe(202)
    await eventually('it is sent', async () => (await pooled(chain())) === 1)
    await goFirst('alice', 'usdc', 'transfer', chain().account('bob'), FUNDS)
    await mine(chain())
    await chain().provider.send('evm_setAutomine', [true])
    await eventually('it has failed', async () =>
      storedRows(server.dataDir, 'relays').some(({ doc }) => doc.includes('"failed"')),
    )
    expect(of(await server.post(await order({ amount: 0n }, 'alice', OTHER)))).toEqual([
      429,
      'relay-quota-exhausted',
    ])
    const error = { name: 'ERC20InsufficientBalance' }
    expect(await server.status()).toMatchObject({ state: 'NONE', opening: { status: 'failed', error } })
    const { body } = await server.api.get(`/orders/${ORDER}/timeline`)
    expect(body.entries).toMatchObject([{ kind: 'received' }, { kind: 'opening', status: 'failed', error }])
  })

  test('does not pay when another wallet takes its id first', async () => {
    const server = await setUp({ RELAY_ACCOUNT_DAILY_GAS: '21000' })
    await stopMining(chain())
    expect((await server.post(await order())).status).toBe(202)
    await eventually('it is sent', async () => (await pooled(chain())) === 1)
    const taken: Hex = `0x${ORDER.slice(2, 34)}${'00'.repeat(16)}`
    const deadline = (await chain().now()) + 3_600
    await goFirst('bob', 'escrow', 'openRequest', taken, bytes32('bob’s own'), deadline)
    await mine(chain())
    await chain().provider.send('evm_setAutomine', [true])
    await eventually('it has failed', async () =>
      storedRows(server.dataDir, 'relays').some(({ doc }) => doc.includes('OrderIdTaken')),
    )
    expect(await usdcOf(chain().account('alice'))).toBe(FUNDS)
    expect((await server.post(await order({}, 'alice', OTHER))).status).toBe(202)
    await server.isOpen(OTHER)
  })
})
