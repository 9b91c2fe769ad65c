import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { checkLimits } from '../../../src/operate/doctor/limits.js'
import { highestShares } from '../../../src/server/limitUse.js'
import { Metrics } from '../../../src/server/metrics.js'
import { createOpsApp } from '../../../src/server/ops/app.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { createLogLines } from '../../support/logLines.js'
import { serverConfig } from '../../support/serverEnvironment.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const GIGA = 1e9
const GAS = {
  relay_gas_per_day: 1_000 * GIGA,
  relay_gas_reserve: 200 * GIGA,
  relay_gas_reserve_remaining: 200 * GIGA,
}
/** One ether for a giga of gas. */
const PRICES: Readonly<Record<string, unknown>> = {
  eth_chainId: '0x7a69',
  eth_getBlockByNumber: {},
  eth_gasPrice: '0x3b9aca00',
}

/** The findings about a server whose metrics show these. */
async function findingsOf(shown: Readonly<Record<string, number>>, env: Record<string, string> = {}) {
  const metrics = new Metrics('the test')
  const shares = new Map<string, number>(highestShares().map(([limit]) => [limit, 0]))
  metrics.watch('limit_highest_share', ['A gauge.', () => [...shares], 'limit'])
  for (const [name, value] of Object.entries(shown)) {
    if (shares.has(name)) shares.set(name, value)
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
  const node = await startFaultProxy('')
  node.answer = ({ method }) => ({ result: PRICES[method] ?? null })
  const config = serverConfig({
    ...{ DATA_DIR: await temporaryDirectory(), RPC_URL: node.url },
    ...{ ...env, OPS_PORT: String(port) },
  })
  return new Map((await checkLimits(config)).map(({ check, ...finding }) => [check, finding]))
}

test.each([
  ['four fifths', { gas: 160, ether: 165, unopened: 80 }, 'notice', '80 % of today'],
  ['less', { gas: 168, ether: 174, unopened: 79 }, 'ok', '79 % of today'],
])(
  'operate doctor says of %s of a limit that it is used',
  async (_, { gas, ether, unopened }, result, says) => {
    const relayer = { relayer_balance_ether: ether, relayer_balance_floor_ether: 5 }
    const shown = { ...GAS, ...relayer, relay_gas_remaining: gas * GIGA, orders_unopened: unopened }
    const found = await findingsOf(shown, { ENVELOPE_MAX_WAITING: '100' })
    for (const check of ['limit-gas', 'limit-ether', 'limit-envelopes'])
      expect([check, found.get(check)?.result]).toEqual([check, result])
    expect(found.get('limit-gas')?.text).toContain(says)
    for (const check of ['limit-files', 'limit-server', 'limit-clients', 'limit-disk'])
      expect([check, found.get(check)?.result]).toEqual([check, 'ok'])
  },
)

test('operate doctor names each limit that one client or account, or all of them, have nearly used, and its setting', async () => {
  const shown = { ...GAS, rate: 0.8, openings: 0.79, 'account-gas': 1.2, 'relay-others': 0.8, arriving: 0.79 }
  const found = await findingsOf(shown)
  expect(found.get('limit-clients')).toEqual({
    result: 'notice',
    text:
      "since the server's start, one client, account or institution has used " +
      '80 % of its requests in a minute (RATE_LIMIT_PER_MINUTE), 120 % of its gas of an account (RELAY_ACCOUNT_DAILY_GAS)',
  })
  expect(found.get('limit-server')).toEqual({
    result: 'notice',
    text: "since the server's start, this server has used 80 % of its relay's room for all else (see what its transactions wait for)",
  })
})
