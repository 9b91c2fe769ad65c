import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { checkLimits } from '../../../src/operate/doctor/limits.js'
import { Metrics } from '../../../src/server/metrics.js'
import { createOpsApp } from '../../../src/server/ops/app.js'
import { createLogLines } from '../../support/logLines.js'
import { serverConfig } from '../../support/serverEnvironment.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

/** What bounds one client, account or institution. */
const OWN = [
  ...['rate', 'node-calls', 'at-once', 'connections', 'envelopes', 'openings', 'account-gas'],
  'institution-gas',
]
const GAS = { relay_gas_per_day: 1_000, relay_gas_reserve: 200 }

/** The findings about a server whose metrics show these. */
async function findingsOf(shown: Readonly<Record<string, number>>, env: Record<string, string> = {}) {
  const metrics = new Metrics('the test')
  const own = new Map(OWN.map((limit) => [limit, 0]))
  metrics.watch('own_limit_highest_share', ['A gauge.', () => [...own], 'limit'])
  for (const [name, value] of Object.entries(shown)) {
    if (name === 'relay_under_way') metrics.watch(name, ['A gauge.', () => [['queued', value]], 'stage'])
    else if (OWN.includes(name)) own.set(name, value)
    else metrics.watch(name, ['A gauge.', () => value])
  }
  metrics.addProcess()
  const app = createOpsApp(
    async () => ({ status: 'healthy', checks: {} }),
    metrics.registry,
    createLogLines().logger,
  )
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const config = serverConfig({ DATA_DIR: await temporaryDirectory(), ...env, OPS_PORT: String(port) })
  return new Map((await checkLimits(config)).map(({ check, ...finding }) => [check, finding]))
}

test.each([
  ['four fifths', { gas: 160, queued: 8_800, unopened: 80 }, 'notice', '80 % of today'],
  ['less', { gas: 168, queued: 8_690, unopened: 79 }, 'ok', '79 % of today'],
])(
  'operate doctor says of %s of a limit that it is used',
  async (_, { gas, queued, unopened }, result, says) => {
    const shown = { ...GAS, relay_gas_remaining: gas, relay_under_way: queued, orders_unopened: unopened }
    const found = await findingsOf(shown, { ENVELOPE_MAX_WAITING: '100' })
    for (const check of ['limit-gas', 'limit-relay', 'limit-envelopes'])
      expect([check, found.get(check)?.result]).toEqual([check, result])
    expect(found.get('limit-gas')?.text).toContain(says)
    for (const check of ['limit-files', 'limit-connections', 'limit-clients'])
      expect([check, found.get(check)?.result]).toEqual([check, 'ok'])
  },
)

test('operate doctor names the limits of its own that one client or account has nearly used, and their settings', async () => {
  const shown = { ...GAS, rate: 0.8, openings: 0.79, 'account-gas': 1.2 }
  const found = await findingsOf(shown, { MAX_CONNECTIONS: '20' })
  expect(found.get('limit-clients')).toEqual({
    result: 'notice',
    text:
      "since the server's start, one client, account or institution has used " +
      '80 % of its requests in a minute (RATE_LIMIT_PER_MINUTE), 120 % of its gas of an account (RELAY_ACCOUNT_DAILY_GAS)',
  })
  expect(found.get('limit-connections')?.result).toBe('notice')
})
