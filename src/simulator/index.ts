import { once } from 'node:events'
import type { Server } from 'node:http'
import { DOCUMENTED_FEES, type FeeSchedule, feeScheduleText } from '../protocol/fees.js'
import { parseDecimal } from '../protocol/units.js'
import { createAlpacaRoutes } from './alpacaRoutes.js'
import { createCommands } from './commands.js'
import { type BrokerControl, createControl, createControlRoutes, type SeenRequest } from './control.js'
import type { Fault, FillBehaviour, FillRule } from './controlSchemas.js'
import { createCorporateActions } from './corporateActions.js'
import { createStandInServer } from './httpServer.js'
import { createLifecycle, type Lifecycle } from './lifecycle.js'
import { createMarket, uuidOf } from './market.js'
import { createMarketClock } from './marketClock.js'
import { CASH_DECIMALS } from './money.js'
import { createAccountRateLimit } from './rateLimit.js'
import { createRules } from './rules.js'
import { createStream } from './tradeUpdates.js'
import type { StandInAccount, StandInAccountConfig, StandInSymbol } from './types.js'

export type { ActivityView, BrokerControl, OrderView, SeenRequest } from './control.js'
export type { ControlInput } from './controlSchemas.js'
export type { StandInAccountConfig, StandInSymbol } from './types.js'

const KEPT_REQUESTS = 10_000

export interface BrokerStandInOptions {
  /** A free port if absent or 0. */
  readonly port?: number | undefined
  /** The seed of the price walk. */
  readonly seed: number
  /** At least two, so that the server's data keys cannot see the enclave's orders. */
  readonly accounts: readonly StandInAccountConfig[]
  readonly symbols: readonly StandInSymbol[]
  /** The broker's fees; by default Alpaca's documented fees for live accounts. */
  readonly fees?: FeeSchedule | undefined
  /** The fill behaviour of orders that match no `fill` rule; by default a fill after 100 ms. */
  readonly fill?: FillBehaviour | undefined
  /** The interval of the price walk; without it, prices move only on command. */
  readonly walkIntervalMs?: number | undefined
  /** Requests per minute, account and API before 429; without it, there is no limit and no header. */
  readonly rateLimit?: number | undefined
  readonly now?: (() => Date) | undefined
}

export interface BrokerStandIn {
  /** Serves the trading API, the market data API and the `trade_updates` stream. */
  readonly url: string
  readonly control: BrokerControl
  stop(): Promise<void>
}

/**
 * Starts a stand-in for Alpaca on loopback: its documented routes and shapes over HTTP, with consistent books.
 * `control` steers it, in-process or over HTTP under `/sandbox/`: see {@link BrokerControl}.
 */
export async function startBrokerStandIn(options: BrokerStandInOptions): Promise<BrokerStandIn> {
  const now = options.now ?? (() => new Date())
  const fees = options.fees ?? feeScheduleText.parse(DOCUMENTED_FEES)
  const accounts = options.accounts.map((config) => openAccount(config, fees, now()))
  const onPrice = (symbol: string) => lifecycle.priced(symbol)
  const market = createMarket({ seed: options.seed, symbols: options.symbols, now, onPrice })
  const clock = createMarketClock({ now, onOpen: () => lifecycle.opened() })
  const stream = createStream({ accounts, now })
  const lifecycle: Lifecycle = createLifecycle({ accounts, market, clock, now, onStatus: stream.announce })
  const corporateActions = createCorporateActions({ accounts, market, lifecycle })
  const fillRules = createRules<FillRule>(Number.POSITIVE_INFINITY, 'newest first')
  const faults = createRules<Fault>(1, 'oldest first')
  const rateLimit = createAccountRateLimit(now)
  rateLimit.enforce(options.rateLimit ?? null)
  const requests: SeenRequest[] = []

  const deps = { accounts, market, clock, lifecycle, fillRules, faults, rateLimit, corporateActions, now }
  const commands = createCommands(deps)
  const control = createControl({ commands, accounts, requests })
  const server = createStandInServer({
    ...deps,
    alpaca: createAlpacaRoutes({
      ...deps,
      behaviourFor: (account, symbol) =>
        fillRules.take((rule) => matches(rule, account, symbol)) ??
        options.fill ?? { mode: 'delay', delayMs: 100 },
    }),
    control: createControlRoutes(control, commands),
    onRequest(request) {
      requests.push(request)
      if (requests.length > KEPT_REQUESTS) requests.shift()
    },
  })
  stream.attach(server)
  const port = await listen(server, options.port ?? 0)
  const walking = options.walkIntervalMs
    ? setInterval(() => market.walk(), options.walkIntervalMs)
    : undefined

  return {
    url: `http://127.0.0.1:${port}`,
    control,
    async stop() {
      clearInterval(walking)
      clock.stop()
      lifecycle.stop()
      stream.stop()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function matches(rule: FillRule, { name }: StandInAccount, symbol: string): boolean {
  return (rule.account ?? name) === name && (rule.symbol ?? symbol) === symbol
}

/** What `GET /v2/account` answers as `id`. @param name the account's in its configuration */
export function accountIdOf(name: string): string {
  return uuidOf(`account:${name}`)
}

function openAccount(config: StandInAccountConfig, fees: FeeSchedule, createdAt: Date): StandInAccount {
  return {
    name: config.name,
    id: accountIdOf(config.name),
    number: `SANDBOX_${config.name.toUpperCase()}`,
    createdAt,
    keyId: config.keyId,
    secretKey: config.secretKey,
    fees,
    cash: parseDecimal(config.cash, CASH_DECIMALS),
    accrued: new Map(),
    positions: new Map(),
    orders: new Map(),
    activities: [],
  }
}

/** @throws the system's error (`EADDRINUSE`) if the port is taken */
async function listen(server: Server, port: number): Promise<number> {
  const listening = once(server, 'listening')
  server.listen(port, '127.0.0.1')
  await listening
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the stand-in has no TCP address')
  return address.port
}
