import { type Finding, fault, ok } from '../protocol/finding.js'
import type { Broker } from './broker.js'
import { BrokerError } from './errors.js'

/** Any symbol that is sure to be listed, and any day: only whether the data may be read is asked. */
const PROBE_SYMBOL = 'AAPL'
const PROBE_DAY = '2026-01-02'

/**
 * Whether the keys are taken, prices may be read, and, if it is to trade, whether the account may, and corporate actions may be read:
 * without them no order is placed.
 * @returns with the broker's id of the account, null when it did not answer
 */
export async function checkBroker(
  broker: Broker,
  { trades }: { trades: boolean },
): Promise<{ findings: Finding[]; accountId: string | null }> {
  const account = await attempted(() => broker.getAccount())
  if (account instanceof BrokerError) return { findings: [keysFault(account)], accountId: null }
  const findings = [ok('broker-keys', `ALPACA_KEY_ID and ALPACA_SECRET_KEY are taken, account ${account.id}`)]
  if (trades && (account.status !== 'ACTIVE' || account.tradingBlocked)) {
    findings.push(
      fault('broker-trading', 'the account may not trade: see at the broker why it is blocked or not active'),
    )
  }
  const data = await attempted(async () => {
    await broker.getSnapshots([PROBE_SYMBOL])
    if (trades) await broker.getAnnouncements({ symbols: [PROBE_SYMBOL], start: PROBE_DAY, end: PROBE_DAY })
  })
  const read = trades ? 'prices and corporate actions' : 'prices'
  findings.push(
    data instanceof BrokerError
      ? fault(
          'broker-data',
          `${read} cannot be read (${data.kind}): check ALPACA_DATA_URL and what the keys may`,
        )
      : ok('broker-data', `${read} can be read`),
  )
  return { findings, accountId: account.id }
}

async function attempted<T>(call: () => Promise<T>): Promise<T | BrokerError> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof BrokerError) return error
    throw error
  }
}

function keysFault(error: BrokerError): Finding {
  return error.kind === 'unauthorized'
    ? fault(
        'broker-keys',
        `ALPACA_KEY_ID and ALPACA_SECRET_KEY are refused (${error.status}): correct them, or ALPACA_TRADING_URL; paper and live accounts have keys of their own`,
      )
    : fault('broker-keys', `the broker gives no usable answer (${error.kind}): check ALPACA_TRADING_URL`)
}
