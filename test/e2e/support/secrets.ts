import { hexToBytes } from '../../../src/protocol/hex.js'
import { accountIdOf, nameToBytes32 } from '../../../src/protocol/identifiers.js'
import { ledgerKey } from '../../../src/protocol/ledgerBlob.js'
import { parseDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../../../src/protocol/units.js'
import { INSTITUTION } from '../../../src/sandbox/settings.js'
import { amountCanary, type Canary, keyCanary, textCanary } from './canaries.js'
import type { Desk } from './desk.js'
import type { Trader } from './trader.js'

/** Values that the confidentiality test puts into orders and rulebooks, and then searches for. USDC amounts are in base units. */
export const PLANTED = {
  tradedSymbol: 'AMZN',
  restrictedSymbol: 'NVDA',
  unlistedSymbol: 'QZXWV',
  saleAmount: 17_654_321_987n,
  maxOrderNotional: 24_987_654_321n,
  /** Over the limit. */
  refusedAmount: 24_998_765_432n,
}

/** Everything secret on the platform so far, keys, rules, trades and balances, as canaries. */
export async function secretsOf(desk: Desk): Promise<Canary[]> {
  const traders = await Promise.all(desk.traders.map((trader, index) => secretsOfTrader(trader, index)))
  return [...plantedSecrets(), ...platformKeys(desk), ...ledgerKeys(desk), ...fills(desk), ...traders.flat()]
}

function plantedSecrets(): Canary[] {
  return Object.entries(PLANTED).map(([name, value]) =>
    typeof value === 'string' ? textCanary(name, value) : amountCanary(name, value, USDC_DECIMALS),
  )
}

function platformKeys({ sandbox: { secrets, accounts } }: Desk): Canary[] {
  const { serverBroker, enclaveBroker } = secrets
  const keys = {
    ...secrets.keys,
    RELAYER_PRIVATE_KEY: accounts.relayer.privateKey,
    'the owner’s key': accounts.owner.privateKey,
    'the admin’s key': accounts.admin.privateKey,
  }
  const texts = {
    RELAY_AUTH_TOKEN: secrets.relayAuthToken,
    'the server’s ALPACA_KEY_ID': serverBroker.keyId,
    'the server’s ALPACA_SECRET_KEY': serverBroker.secretKey,
    'the enclave’s ALPACA_KEY_ID': enclaveBroker.keyId,
    'the enclave’s ALPACA_SECRET_KEY': enclaveBroker.secretKey,
  }
  return [
    ...Object.entries(keys).map(([name, key]) => keyCanary(name, hexToBytes(key))),
    ...Object.entries(texts).map(([name, text]) => textCanary(name, text)),
  ]
}

/** The keys that the enclave derives from its master key. */
function ledgerKeys({ sandbox: { secrets, accounts } }: Desk): Canary[] {
  const master = hexToBytes(secrets.keys.LEDGER_MASTER_KEY)
  const ofAccounts = accounts.employees.map(({ address }, index) =>
    keyCanary(`k_account of employee ${index}`, ledgerKey(master, 'account', accountIdOf(address))),
  )
  return [...ofAccounts, keyCanary('orgKey', ledgerKey(master, 'org', nameToBytes32(INSTITUTION)))]
}

/** The broker's fills for the enclave. */
function fills({ sandbox: { broker } }: Desk): Canary[] {
  return broker
    .orders()
    .filter(({ account, filled_qty: qty }) => account === 'enclave' && qty !== '0')
    .map(({ filled_qty: qty }) =>
      amountCanary('a fill’s quantity', parseDecimal(qty, SHARE_DECIMALS), SHARE_DECIMALS),
    )
}

async function secretsOfTrader({ account, client }: Trader, index: number): Promise<Canary[]> {
  const { privateKey } = await client.unlock()
  const keys = [
    keyCanary(`the wallet key of employee ${index}`, hexToBytes(account.privateKey)),
    keyCanary(`the portfolio key of employee ${index}`, privateKey),
  ]
  const opened = await client.getPortfolio()
  if (!opened || opened.portfolio.cash < LEAST_AMOUNT) return keys
  return [...keys, amountCanary(`the cash of employee ${index}`, opened.portfolio.cash, USDC_DECIMALS)]
}

/** Fewer digits would be found by chance. */
const LEAST_AMOUNT = 100_000_000n
