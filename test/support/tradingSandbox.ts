import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js'

/** A budget for a day is not what is looked at. */
const NO_BUDGET = String(Number.MAX_SAFE_INTEGER)
/** All orders come from one address, many at once, and each caller waits for its answer. */
const TRADING_SETTINGS = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
  MAX_CONNECTIONS_PER_CLIENT: '10000',
  MAX_UNDER_WAY: '10000',
  MAX_UNDER_WAY_PER_CLIENT: '10000',
  MAX_WAIT: '1m',
  RELAY_DAILY_GAS: NO_BUDGET,
  RELAY_ACCOUNT_DAILY_GAS: NO_BUDGET,
}

/** A sandbox on which many accounts trade at once. Its market prices stand still. */
export function startTradingSandbox(
  directory: string,
  serverSettings: Record<string, string> = {},
  enclaveSettings: Record<string, string> = {},
): Promise<Sandbox> {
  return startSandbox({
    directory,
    ports: { server: 0, rpc: 0, broker: 0 },
    serverSettings: { ...TRADING_SETTINGS, ...serverSettings },
    enclaveSettings,
    print: () => undefined,
  })
}
