// With no other configuration the server starts the bundled enclave itself. It outlives the server, is found again by the next
// one, and is started again when it dies.
import { stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ONE_USDC } from '../../src/protocol/units.js'
import { healthOf } from '../../src/server/trigger/ownEnclave.js'
import { eventually } from '../support/eventually.js'
import { showProcess } from '../support/processes.js'
import { useDesk } from './support/desk.js'
import { brokerOrder } from './support/trader.js'

const desk = useDesk({ enclave: 'server' })
const buy = { side: 'BUY', symbol: 'AAPL', usdc: 200n * ONE_USDC } as const

const stateDirectory = () => join(desk().sandbox.directory, 'server', 'enclave')

function enclave() {
  return eventually('the enclave', () => healthOf(join(stateDirectory(), 'door.sock')))
}

it('the enclave that the server starts settles an order; only its user reaches its socket and its secret, and it inherits nothing', async () => {
  const [alice] = desk().traders
  expect((await alice.trade(buy)).state).toBe('SETTLED')
  const { pid } = await enclave()
  const shown = await showProcess(pid)
  expect(shown?.environment.map((variable) => variable.split('=')[0]).sort()).toEqual([
    'ENCLAVE_ENV_FILE',
    'ENCLAVE_LISTEN',
    'ENCLAVE_STATE_DIR',
    'PATH',
  ])
  for (const name of ['door.sock', 'secret', 'runs.sqlite', 'enclave.log'])
    expect((await stat(join(stateDirectory(), name))).mode & 0o777, name).toBe(
      name === 'door.sock' ? 0o700 : 0o600,
    )
  expect((await stat(stateDirectory())).mode & 0o777).toBe(0o700)
})

it('the enclave that the server starts goes on when the server is killed, and the next server finds it and its run', async () => {
  const [, bob] = desk().traders
  const { sandbox } = desk()
  const { pid } = await enclave()
  sandbox.broker.fill({ symbol: buy.symbol, mode: 'hold', times: 1 })
  const orderId = await bob.send(buy)
  await eventually('the order is at the broker', () => brokerOrder(sandbox, orderId))
  await sandbox.server().kill()
  sandbox.broker.release({ symbol: buy.symbol })
  await sandbox.restartServer()
  const { state, triggers } = await bob.ended(orderId)
  expect([state, triggers.at(0)?.outcome]).toEqual(['SETTLED', expect.stringMatching(/^(placed|settled)$/)])
  expect((await enclave()).pid).toBe(pid)
})

it('the enclave that the server starts is replaced at the next start of the server once its configuration has changed', async () => {
  const [alice] = desk().traders
  const { sandbox } = desk()
  const { pid } = await enclave()
  await sandbox.server().stop()
  const now = new Date()
  await utimes(join(sandbox.directory, '.env.enclave'), now, now)
  await sandbox.restartServer()
  await eventually('another enclave', async () => (await enclave()).pid !== pid)
  expect((await alice.trade(buy)).state).toBe('SETTLED')
})
