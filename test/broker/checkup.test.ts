import { expect, it } from 'vitest'
import { checkBroker } from '../../src/broker/checkup.js'
import { alpacaExample } from '../support/alpacaExamples.js'
import { brokerOf } from '../support/brokerStandIn.js'
import { startRawServer } from '../support/rawServer.js'

/** The doctor's findings about the keys when every request is answered so. */
async function saidOf(status: number, body: string) {
  const url = await startRawServer((_request, response) => response.writeHead(status).end(body))
  const { findings, accountId } = await checkBroker(brokerOf(url), { trades: true })
  expect(accountId).toBeNull()
  return findings
}

const WRONG_KEYS = 'ALPACA_KEY_ID and ALPACA_SECRET_KEY are refused'
it.each([
  [401, 'error-unauthorized', WRONG_KEYS],
  [403, 'error-forbidden', WRONG_KEYS],
  [403, 'error-minimum', 'check ALPACA_TRADING_URL'],
  [404, 'error-not-found', 'check ALPACA_TRADING_URL'],
])('the doctor names wrong keys as wrong keys, and nothing else: %i (%s)', async (status, example, text) => {
  const [finding, ...others] = await saidOf(status, JSON.stringify(alpacaExample(example)))
  expect(others).toEqual([])
  expect(finding).toMatchObject({ check: 'broker-keys', result: 'fault' })
  expect(finding?.text).toContain(text)
})

it('the doctor says when the keys may not read corporate actions, without which the enclave places no order', async () => {
  const url = await startRawServer(({ url: path = '' }, response) => {
    if (path.startsWith('/v2/account')) response.end(JSON.stringify(alpacaExample('account')))
    else if (path.startsWith('/v2/stocks')) response.end('{}')
    else response.writeHead(403).end(JSON.stringify(alpacaExample('error-forbidden')))
  })
  const faultsOf = async (trades: boolean) =>
    (await checkBroker(brokerOf(url), { trades })).findings.filter(({ result }) => result === 'fault')
  expect(await faultsOf(false)).toEqual([])
  const [fault, ...others] = await faultsOf(true)
  expect(others).toEqual([])
  expect(fault).toMatchObject({ check: 'broker-data' })
  expect(fault?.text).toContain('prices and corporate actions cannot be read (unauthorized)')
})
