// The whole way of the owner's decision: the command, the server, the enclave, the chain. Another party trades with the broker's
// account under an order's id, and no run can end the order.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { clientOrderIdOf } from '../../src/protocol/identifiers.js'
import { usd } from '../support/brokerStandIn.js'
import { operate } from '../support/operate.js'
import { useDesk } from './support/desk.js'
import { brokerOrder } from './support/trader.js'

const desk = useDesk()

async function resolve(args: readonly string[], answer?: string, key?: Hex) {
  const { directory, info } = desk().sandbox
  const env = {
    RPC_URL: info.rpcUrl,
    ENCLAVE_ENV_FILE: join(directory, '.env.enclave'),
    OWNER_PRIVATE_KEY: key ?? desk().sandbox.accounts.owner.privateKey,
  }
  const all = ['resolve', ...args, '--directory', directory]
  return operate(all, answer === undefined ? { env } : { env, answer })
}

/** An order of the same account at the broker takes the id before the enclave places its own. */
async function takeId(orderId: Hex): Promise<void> {
  const { info, secrets } = desk().sandbox
  const { keyId, secretKey } = secrets.enclaveBroker
  const order = { symbol: 'TSLA', notional: '100', side: 'buy', type: 'market', time_in_force: 'day' }
  const answer = await fetch(`${info.brokerUrl}/v2/orders`, {
    method: 'POST',
    headers: {
      'APCA-API-KEY-ID': keyId,
      'APCA-API-SECRET-KEY': secretKey,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ ...order, client_order_id: clientOrderIdOf(orderId) }),
  })
  expect(answer.status).toBe(200)
}

test('an order whose id another party has taken at the broker is ended by the owner, with one command', async () => {
  const { sandbox, traders, chainTime } = desk()
  const [alice] = traders
  sandbox.broker.fill({ symbol: 'TSLA', mode: 'hold' })
  const before = await alice.wallet()
  const deadline = (await chainTime()) + 3_600
  const request = { side: 'BUY', symbol: 'AAPL', usdc: usd(250), deadline } as const
  const { order } = await alice.client.placeOrder(request, { beforeOpen: ({ orderId }) => takeId(orderId) })
  const { orderId } = order
  await alice.reaches(orderId, 'failed')
  expect(brokerOrder(sandbox, orderId)).toMatchObject({ symbol: 'TSLA', status: 'canceled' })

  const declined = await resolve([orderId], 'n')
  expect(declined).toMatchObject({ exit: 3, out: '' })
  expect(declined.err).toContain(
    `asked to buy AAPL for 250 USDC, with 250 USDC in escrow; the escrow is open`,
  )
  expect(declined.err).toContain(
    'by your word, nothing was bought or sold; the enclave will\n- release the order',
  )
  expect(declined.err).toContain('- refund the escrow: 250 USDC go back to the wallet')
  const until = /valid until (\S+), by the chain's time/.exec(declined.err)?.[1] ?? ''
  const validForS = Date.parse(until) / 1_000 - (await chainTime())
  expect(validForS).toBeLessThanOrEqual(3_600)
  expect(validForS).toBeGreaterThan(0)
  expect(await alice.wallet()).toBe(before - usd(250))

  const stranger = await resolve([orderId, '--yes', '--json'], undefined, alice.account.privateKey)
  expect([stranger.exit, stranger.err]).toEqual([1, expect.stringContaining('not-owner')])
  const slip = await resolve([orderId, '--quantity', '12500', '--value', '250', '--yes', '--json'])
  expect([slip.exit, slip.err]).toEqual([1, expect.stringContaining('figures-off-market')])

  const done = await resolve([orderId, '--yes', '--json'])
  expect(done.err).not.toContain('"error"')
  expect(JSON.parse(done.out)).toMatchObject({ command: 'resolve', orderId, account: alice.account.address })
  expect((await alice.ended(orderId)).state).toBe('REFUNDED')
  expect(await alice.wallet()).toBe(before)
  const again = await resolve([orderId, '--yes', '--json'])
  expect([again.exit, again.err]).toEqual([1, expect.stringContaining('order-not-written-ahead')])

  sandbox.broker.clear({ what: 'fills' })
  expect((await alice.trade({ side: 'BUY', symbol: 'AAPL', usdc: usd(100) })).state).toBe('SETTLED')
})
