import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { clientOrderIdOf } from '../../src/protocol/identifiers.js'
import { brokerOf, ENCLAVE_ACCOUNT, usd } from '../support/brokerStandIn.js'
import { built } from '../support/built.js'
import { eventually } from '../support/eventually.js'
import { type Program, startProgram } from '../support/program.js'
import { RUN_SECRET } from '../support/serverEnvironment.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { enclaveEnvironment } from './support/environment.js'
import { useWorld } from './support/world.js'

const world = useWorld()

function settings(): Record<string, string> {
  const { chain, broker } = world()
  return {
    ...enclaveEnvironment,
    ALPACA_KEY_ID: ENCLAVE_ACCOUNT.keyId,
    ALPACA_SECRET_KEY: ENCLAVE_ACCOUNT.secretKey,
    ALPACA_TRADING_URL: broker.url,
    ALPACA_DATA_URL: broker.url,
    RPC_URL: chain.anvil.rpcUrl,
    INSTITUTION_REGISTRY_ADDRESS: chain.addresses.institutionRegistry,
    ORDER_ESCROW_ADDRESS: chain.addresses.orderEscrow,
    CONFIDENTIAL_LEDGER_ADDRESS: chain.addresses.confidentialLedger,
    EQUITY_TOKEN_ADDRESS: chain.addresses.equityToken,
    PLATFORM_POOL_ADDRESS: chain.addresses.platformPool,
    CONFIRM_POLL_INTERVAL: '50ms',
    FILL_WAIT: '300ms',
  }
}

/** Starts the program with these changes of its configuration. */
async function start(command: string, changes: Record<string, string>): Promise<Program> {
  const envFile = join(await temporaryDirectory(), '.env.enclave')
  const lines = Object.entries({ ...settings(), ...changes }).map(([name, value]) => `${name}=${value}`)
  await writeFile(envFile, lines.join('\n'), { mode: 0o600 })
  return startProgram(built('enclave/main.js'), [command], { env: { ENCLAVE_ENV_FILE: envFile } })
}

it('the enclave’s process starts while another deployment trades with its account, and says so', async () => {
  const trader = brokerOf(world().broker.url)
  const clientOrderId = clientOrderIdOf(`0x${'5e'.repeat(32)}`)
  await trader.placeOrder({ symbol: 'AAPL', side: 'buy', notional: usd(5), clientOrderId })
  const program = await start('serve', {
    ...{ ENCLAVE_TRIGGER_SECRET: RUN_SECRET, ENCLAVE_LISTEN: '127.0.0.1:0' },
    ENCLAVE_STATE_DIR: await temporaryDirectory(),
  })
  await eventually('a line in the log', () => program.err().includes('broker account shared'))
  expect(program.err()).not.toContain(clientOrderId)
  program.child.kill('SIGTERM')
  expect([await program.exit, program.out()]).toEqual([0, ''])
})

it.each([['--check'], ['serve']])(
  'the enclave’s %s exits 1 and names every fault of its configuration',
  async (command) => {
    const program = await start(command, { LEDGER_MASTER_KEY: 'canary', RELAY_URL: '' })
    expect(await program.exit).toBe(1)
    expect(program.err()).toBe('LEDGER_MASTER_KEY: expected 0x and 64 hex digits\nRELAY_URL: is missing\n')
  },
)
