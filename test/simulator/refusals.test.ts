import { expect, it } from 'vitest'
import { brokerOf, ENCLAVE_ACCOUNT, SERVER_ACCOUNT, shares, usd } from '../support/brokerStandIn.js'
import { useStandIn } from './useStandIn.js'

const { standIn, broker, buy, sell, read } = useStandIn()

const rejected = (status: number, code: number) => ({ kind: 'rejected', status, code })

it('an order of less than a dollar is refused, and one of more than the cash or the shares', async () => {
  await expect(buy('1', usd(0.99))).rejects.toMatchObject(rejected(403, 40310000))
  await expect(buy('2', usd(100000.01))).rejects.toMatchObject(rejected(403, 40310000))
  await expect(sell('3', shares(1))).rejects.toMatchObject(rejected(403, 40310000))
  await buy('4', usd(400))
  await expect(sell('5', shares(2))).rejects.toMatchObject(rejected(403, 40310000))
  expect(standIn().control.orders()).toHaveLength(1)
})

it('an opposite live order in the account has an order refused, for as long as it is live', async () => {
  standIn().control.account({ name: 'enclave', positions: { AAPL: '2' } })
  standIn().control.fill({ mode: 'hold', times: 1 })
  await buy('1', usd(100))
  await expect(sell('2', shares(1))).rejects.toMatchObject(rejected(403, 40310000))
  standIn().control.release({})
  await sell('2', shares(1))
})

it('sizes that Alpaca does not take are refused', async () => {
  const post = async (size: Record<string, unknown>) => {
    const response = await fetch(`${standIn().url}/v2/orders`, {
      method: 'POST',
      headers: {
        'APCA-API-KEY-ID': ENCLAVE_ACCOUNT.keyId,
        'APCA-API-SECRET-KEY': ENCLAVE_ACCOUNT.secretKey,
      },
      body: JSON.stringify({ symbol: 'AAPL', side: 'buy', type: 'market', time_in_force: 'day', ...size }),
    })
    return [response.status, Object(await response.json()).code]
  }
  expect(await post({ notional: '10.001' })).toEqual([422, 42210000])
  expect(await post({ qty: '1.0000000001' })).toEqual([422, 42210000])
  expect(await post({ qty: '1', notional: '1' })).toEqual([422, 40010001])
  expect(await post({})).toEqual([422, 40010001])
  expect(await post({ qty: '0' })).toEqual([422, 40010001])
  expect(await post({ qty: '-1' })).toEqual([422, 40010001])
  expect(await post({ qty: '1', type: 'limit' })).toEqual([422, 40010001])
  expect(await post({ qty: '1', client_order_id: 'x'.repeat(129) })).toEqual([422, 40010001])
  expect(await post({ qty: '1', extended_hours: true })).toEqual([422, 40010001])
  expect(await post({ qty: '1', order_class: 'bracket' })).toEqual([422, 40010001])
  expect(await post({ qty: '1', limit_price: '150' })).toEqual([422, 40010001])
  expect(await post({ qty: '1', stop_loss: { stop_price: '150' } })).toEqual([422, 40010001])
  expect(await post({ qty: '1', client_order_id: 'x'.repeat(128) })).toEqual([200, undefined])
  expect(await post({ qty: '1', extended_hours: false, limit_price: null })).toEqual([200, undefined])
  expect(await post({ notional: 10.5 })).toEqual([200, undefined])
  expect(await post({ notional: '10.50', qty: null })).toEqual([200, undefined])
})

it('assets that are unknown, halted or not fractionable are refused', async () => {
  await expect(buy('1', usd(10), 'NOPE')).rejects.toMatchObject({ kind: 'rejected', status: 422 })
  standIn().control.asset({ symbol: 'AAPL', tradable: false })
  await expect(buy('1', usd(10))).rejects.toMatchObject({ kind: 'rejected', status: 422 })
  standIn().control.asset({ symbol: 'MSFT', fractionable: false })
  await expect(buy('1', usd(10), 'MSFT')).rejects.toMatchObject({ kind: 'rejected', status: 403 })
  expect(await broker().getAsset('MSFT')).toMatchObject({ fractionable: false, tradable: true })
  expect(await broker().getAsset('NOPE')).toBeNull()
})

it('a client_order_id that was ever used in the account is refused', async () => {
  await buy('once', usd(10))
  await expect(buy('once', usd(10))).rejects.toMatchObject({ kind: 'rejected', status: 422 })
  expect(await broker().getOrderByClientOrderId('once')).toMatchObject({ symbol: 'AAPL', side: 'buy' })
  expect(standIn().control.orders()).toHaveLength(1)
})

it('accounts see nothing of each other', async () => {
  await buy('mine', usd(100))
  const server = brokerOf(standIn().url, SERVER_ACCOUNT)
  expect(await server.getOrderByClientOrderId('mine')).toBeNull()
  expect(await server.getPositions()).toEqual([])
  expect((await server.getAccount()).cash).toBe(0n)
  expect((await server.getSnapshots(['AAPL'])).get('AAPL')?.last).toBe(usd(200))
  const { id } = await read('mine')
  await expect(server.cancelOrder(id)).rejects.toMatchObject({ kind: 'not-found' })
})

it('accounts need both of their own keys', async () => {
  for (const keys of [
    { keyId: ENCLAVE_ACCOUNT.keyId, secretKey: SERVER_ACCOUNT.secretKey },
    { keyId: 'unknown', secretKey: ENCLAVE_ACCOUNT.secretKey },
  ]) {
    await expect(brokerOf(standIn().url, keys).getClock()).rejects.toMatchObject({ kind: 'unauthorized' })
  }
})
