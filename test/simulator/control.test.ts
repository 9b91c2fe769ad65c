import { expect, it, onTestFinished } from 'vitest'
import { brokerOf, startStandIn, usd } from '../support/brokerStandIn.js'

async function setUp() {
  const standIn = await startStandIn()
  onTestFinished(() => standIn.stop())
  const broker = brokerOf(standIn.url)
  const view = async (name: string): Promise<unknown> =>
    (await fetch(`${standIn.url}/sandbox/${name}`)).json()
  return { ...standIn, broker, view }
}

it('a person at a terminal steers the broker’s stand-in, and the newest rule of fills wins', async () => {
  const { url, broker } = await setUp()
  async function steer(command: string, input: object): Promise<void> {
    const init = { method: 'POST', body: JSON.stringify(input) }
    expect((await fetch(`${url}/sandbox/${command}`, init)).status).toBe(204)
  }
  const buy = (clientOrderId: string) =>
    broker.placeOrder({ symbol: 'AAPL', side: 'buy', notional: usd(10), clientOrderId })
  await steer('fill', { mode: 'hold' })
  await steer('fill', { mode: 'reject', times: 1 })
  for (const id of ['first', 'second']) await buy(id)
  expect((await broker.getOrderByClientOrderId('first'))?.state).toBe('rejected')
  await steer('end', { clientOrderId: 'second', status: 'expired' })
  expect((await broker.getOrderByClientOrderId('second'))?.state).toBe('expired')
  await steer('clear', { what: 'fills' })
  await steer('fault', { method: 'POST', path: '/v2/orders', drop: 'after' })
  await expect(buy('lost')).rejects.toMatchObject({ kind: 'ambiguous' })
  expect((await broker.getOrderByClientOrderId('lost'))?.state).toBe('filled')
  await steer('clock', { open: false, nextOpen: '2040-01-03T09:30:00-05:00' })
  expect((await broker.getClock()).nextOpen).toEqual(new Date('2040-01-03T14:30:00Z'))
})

it('no page in a browser steers the stand-in or reads its views, which need no keys', async () => {
  const { url, view } = await setUp()
  for (const origin of ['http://localhost:5173', 'https://elsewhere.example', 'null']) {
    const body = '{"name":"enclave","cash":"0"}'
    const steered = await fetch(`${url}/sandbox/account`, { method: 'POST', headers: { origin }, body })
    expect(steered.status).toBe(403)
    expect((await fetch(`${url}/sandbox/accounts`, { headers: { origin } })).status).toBe(403)
  }
  expect(await view('accounts')).toMatchObject([{ name: 'enclave', cash: '100000' }, {}])
})
