// The command line's orders that wait: for the market, for a price, for their turn, and for longer than a person does.
import { beforeAll, expect, it } from 'vitest'
import { formatDecimal, SHARE_DECIMALS } from '../../src/client/index.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { eventually } from '../support/eventually.js'
import { errorOf, personAt, startCli } from './support/cli.js'
import { useDesk } from './support/desk.js'

/** A cancelled order is looked for again after `ABSENT_RECHECK_AFTER`, which has to be longer than a call to the broker. */
const desk = useDesk({ enclaveSettings: { BROKER_TIMEOUT: '4s', ABSENT_RECHECK_AFTER: '10s' } })
const person = personAt(desk)

beforeAll(async () => {
  await desk().traders[0].trade({ side: 'BUY', symbol: 'AAPL', usdc: 200n * ONE_USDC })
})

it('confidential-trading order ends with 4 when the order is not over in time; it goes on', async () => {
  const { sandbox } = desk()
  sandbox.broker.clock({ open: false, nextOpen: new Date(Date.now() + 3_600_000).toISOString() })
  const { trader, run } = await person(2)
  const { exit, err } = await run('order', 'buy', 'TSLA', '100', '--timeout', '8s', '--json')
  expect(exit).toBe(4)
  const { code, message } = errorOf(err)
  expect(code).toBe('pending')
  sandbox.broker.clock({ open: true })
  const orderId = bytes32Schema.parse(/0x[0-9a-f]{64}/.exec(message)?.[0])
  expect((await trader.ended(orderId)).state).toBe('SETTLED')
})

it('confidential-trading order cancels an order that waits, which is refunded; and no order that has ended', async () => {
  const { sandbox } = desk()
  sandbox.broker.clock({ open: false, nextOpen: new Date(Date.now() + 3_600_000).toISOString() })
  const { trader, env, run } = await person(2)
  const before = await trader.wallet()
  const placing = startCli(['order', 'buy', 'TSLA', '100'], env)
  const queued =
    /^OPEN, .*queued: waits for the market to open \(market-closed\), next run \S+.*, deadline \S+/m
  await eventually('the order waits', () => queued.test(placing.err()))
  placing.child.kill('SIGINT')
  await placing.exit
  const orderId = bytes32Schema.parse(/0x[0-9a-f]{64}/.exec(placing.err())?.[0])
  const { exit, out, err } = await run('cancel', orderId)
  sandbox.broker.clock({ open: true })
  expect(exit).toBe(0)
  expect(err).toContain('the server has the cancel')
  expect(err).toMatch(/^OPEN, to be cancelled, /m)
  const fields = new Map(out.split('\n').map((line) => [line.split('\t')[0], line.split('\t')[1]]))
  expect([fields.get('state'), fields.get('refused')]).toEqual([
    'REFUNDED',
    'The order was cancelled before any of it was filled. (cancelled)',
  ])
  expect(await trader.wallet()).toBe(before)
  expect((await run('watch', orderId)).out).toMatch(/cancel-received\s+the account asks/)
  const late = await run('cancel', orderId, '--json')
  expect(late.exit).toBe(0)
  const { run: anothers } = await person(1)
  expect(errorOf((await anothers('cancel', orderId, '--json')).err).code).toBe('not-order-account')
})

it('confidential-trading order --limit rests until the price falls and fills in part; a cancel ends it, and the rest is cash', async () => {
  const { broker } = desk().sandbox
  const { trader, env, run } = await person(0)
  const { cash } = await trader.portfolio()
  broker.price({ symbol: 'TSLA', price: '250' })
  broker.fill({ symbol: 'TSLA', mode: 'partial', fraction: '0.5', times: 1 })
  const placing = startCli(['order', 'buy', 'TSLA', '100', '--limit', '240'], env)
  await eventually('the order rests', () => /^OPEN, enclave run \d+: placed, /m.test(placing.err()))
  const atBroker = () => broker.orders().at(-1)
  expect(atBroker()).toMatchObject({ type: 'limit', limit_price: '240', notional: '100', filled_qty: '0' })
  expect((await run('portfolio')).out).toMatch(/\tBUY\tTSLA\t100\t240\tDAY$/m)
  expect((await run('orders')).out).toMatch(/\tOPEN\tBUY\tTSLA\t100\t240\tDAY\t/)
  const listed = JSON.parse((await run('orders', '--json')).out.trimEnd().split('\n').at(-1) ?? '')
  expect(listed).toMatchObject({ usdc: '100000000', limit: { price: '240000000', timeInForce: 'DAY' } })
  broker.price({ symbol: 'TSLA', price: '239' })
  await eventually('half of it is filled', () => Number(atBroker()?.filled_qty) > 0)
  placing.child.kill('SIGINT')
  await placing.exit
  const orderId = bytes32Schema.parse(/0x[0-9a-f]{64}/.exec(placing.err())?.[0])
  const { exit, out } = await run('cancel', orderId)
  expect(exit).toBe(3)
  expect(out).toMatch(/^state\tSETTLED$/m)
  expect(out).toMatch(/^filled\tThe order was filled\. Bought \S+ TSLA for 50\.00 USDC\./m)
  const after = await trader.portfolio()
  expect(after.cash - cash).toBe(50n * ONE_USDC)
  expect(formatDecimal(after.positions.TSLA?.qty ?? 0n, SHARE_DECIMALS)).toBe(atBroker()?.filled_qty)
})
