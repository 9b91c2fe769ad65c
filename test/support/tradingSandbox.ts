import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js'
import { type EscrowReader, startEscrowReader } from './escrowReader.js'

/**
 * For a sandbox in which a test waits for a block, a fill or a look at the chain: each takes a fraction of a second. Its market opens
 * and closes on command, and nobody waits until that is noticed.
 */
export const QUICK = {
  blockTime: 0.25,
  server: {
    MARKET_CLOCK_MAX_AGE: '1s',
  },
  enclave: { FILL_WAIT: '1500ms', CONFIRM_POLL_INTERVAL: '100ms', BROKER_CLOCK_MAX_AGE: '1ms' },
}

/** A budget for a day is not what is looked at. */
const NO_BUDGET = String(Number.MAX_SAFE_INTEGER)
/** All orders come from one address, many at once, and each caller waits for its answer. */
const TRADING_SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
  MAX_CONNECTIONS: '30000',
  MAX_UNDER_WAY: '30000',
  RELAY_DAILY_GAS: NO_BUDGET,
  RELAY_ACCOUNT_DAILY_GAS: NO_BUDGET,
}

interface TradingSandboxOptions {
  readonly directory: string
  readonly serverSettings?: Record<string, string>
  readonly enclaveSettings?: Record<string, string>
}

/** Starts a sandbox on which many accounts trade at once. Its market prices stand still. */
export function startTradingSandbox({
  directory,
  serverSettings,
  enclaveSettings = {},
}: TradingSandboxOptions): Promise<Sandbox> {
  return startSandbox({
    directory,
    ports: { server: 0, rpc: 0, broker: 0 },
    serverSettings: { ...TRADING_SETTINGS, ...serverSettings },
    enclaveSettings,
    print: () => undefined,
  })
}

/** The same, with a reader of its escrow, for as long as both are used. */
export async function withTradingSandbox<T>(
  options: TradingSandboxOptions,
  use: (sandbox: Sandbox, reader: EscrowReader) => Promise<T>,
): Promise<T> {
  const sandbox = await startTradingSandbox(options)
  try {
    const reader = await startEscrowReader(sandbox.provider, sandbox.info.contracts.orderEscrow)
    try {
      return await use(sandbox, reader)
    } finally {
      await reader.stop()
    }
  } finally {
    await sandbox.stop()
  }
}
