import { statfs } from 'node:fs/promises'
import { formatEther } from 'ethers'
import * as z from 'zod'
import { currentFees, priceLimit } from '../../chain/fees.js'
import { createRpc } from '../../chain/rpc.js'
import { type Finding, notice, ok, unchecked } from '../../protocol/finding.js'
import type { Config } from '../../server/config/config.js'
import { isLocalDatabase } from '../../server/config/values.js'
import type { Limit } from '../../server/limitUse.js'
import { createDatabase } from '../../server/store/postgres/database.js'
import type { Secret } from '../../service/secret.js'

/** The share of a limit from which on the doctor warns. */
const NEARLY_USED = 0.8
const TIMEOUT_MS = 5_000

/** Whose limit it is, and what of it is used, with the setting that makes room. */
type Row = readonly [check: 'limit-clients' | 'limit-server', used: string]

/** Every limit of which the server notes the highest share. */
const LIMITS: Readonly<Record<Limit, Row>> = {
  rate: ['limit-clients', 'requests in a minute (RATE_LIMIT_PER_MINUTE)'],
  'node-calls': ['limit-clients', 'calls of the nodes (a proxy, or fewer pages behind one address)'],
  turns: ['limit-clients', 'requests that wait for a turn (more servers)'],
  'at-once': ['limit-clients', 'requests at once (MAX_UNDER_WAY)'],
  connections: ['limit-clients', 'connections (MAX_CONNECTIONS)'],
  envelopes: ['limit-clients', 'orders without an escrow (ENVELOPE_MAX_WAITING)'],
  openings: ['limit-clients', 'orders under way that the platform opens (its wallet can open more)'],
  'account-gas': ['limit-clients', 'gas of an account (RELAY_ACCOUNT_DAILY_GAS)'],
  'institution-gas': ['limit-clients', 'gas of an institution (RELAY_ACCOUNT_DAILY_GAS)'],
  'all-turns': ['limit-server', 'requests that wait for a turn (more servers)'],
  'all-at-once': ['limit-server', 'requests at once (MAX_UNDER_WAY)'],
  'all-connections': ['limit-server', 'connections (MAX_CONNECTIONS)'],
  arriving: ['limit-server', 'bodies that arrive (more servers)'],
  'relay-connections': ['limit-server', "connections of the enclave's port (one enclave needs a quarter)"],
  'relay-openings': ['limit-server', "relay's room for openings (see what its transactions wait for)"],
  'relay-others': ['limit-server', "relay's room for all else (see what its transactions wait for)"],
}

type Samples = (name: string, labels?: string) => number

/**
 * Holds what the running server has used against its limits, by the operator's port, and what its disk and database have left.
 * docs/scaling.md has them all.
 */
export async function checkLimits(config: Config): Promise<Finding[]> {
  const stored =
    config.databaseUrl === undefined
      ? [await checkDisk(config.dataDir, 'DATA_DIR', 'DATA_DIR is not there yet')]
      : await checkDatabase(config.databaseUrl)
  const metrics = await readMetrics(config.ops)
  if (metrics === undefined)
    return [...stored, unchecked('limits', 'no server answers at OPS_PORT: what it has used is not known')]
  const of: Samples = (name, labels = '') => sampleOf(metrics, `${name}${labels}`)
  const gas = of('trading_relay_gas_per_day') - of('trading_relay_gas_reserve')
  return [
    ...stored,
    judge(
      'limit-gas',
      gas - of('trading_relay_gas_remaining'),
      gas,
      "of today's gas for new orders: RELAY_DAILY_GAS",
    ),
    await checkEther(config, of),
    judge(
      'limit-envelopes',
      of('trading_orders_unopened'),
      config.unopened.maxOrders,
      'of the room for orders without an escrow: ENVELOPE_MAX_WAITING',
    ),
    judge('limit-files', of('process_open_fds'), of('process_max_fds'), 'of the open files: ulimit -n'),
    judgeHighest('limit-server', 'this server', of),
    judgeHighest('limit-clients', 'one client, account or institution', of),
  ]
}

function judgeHighest(check: Row[0], who: string, of: Samples): Finding {
  const shares = Object.entries(LIMITS)
    .filter(([, row]) => row[0] === check)
    .map(([limit, [, used]]) => [used, of('trading_limit_highest_share', `{limit="${limit}"}`)] as const)
  if (shares.some(([, share]) => Number.isNaN(share)))
    return unchecked(check, `the server does not say what ${who} has used of its limits`)
  const near = shares.filter(([, share]) => share >= NEARLY_USED)
  const since = `since the server's start, ${who} has`
  if (near.length === 0) return ok(check, `${since} used less than four fifths of each limit of its own`)
  const list = near.map(([used, share]) => `${Math.floor(share * 100)} % of its ${used}`).join(', ')
  return notice(check, `${since} used ${list}`)
}

/** What today's gas costs at the present price, of that and the ether that is left. */
async function checkEther({ chain, relay }: Config, of: Samples): Promise<Finding> {
  const { rpcUrls, rpcTimeoutMs: timeoutMs, chainId } = chain
  const rpc = createRpc({ urls: rpcUrls.reveal(), timeoutMs, chainId })
  const price = await currentFees(rpc, relay.maxFeePerGas).then(priceLimit, () => undefined)
  const remaining = of('trading_relay_gas_remaining') + of('trading_relay_gas_reserve_remaining')
  const gas = of('trading_relay_gas_per_day') - remaining
  const used = price === undefined ? Number.NaN : gas * Number(formatEther(price))
  const left = of('trading_relayer_balance_ether') - of('trading_relayer_balance_floor_ether')
  return judge('limit-ether', used, used + left, "of the relayer's ether for a day like today: fund it")
}

function judge(check: string, used: number, limit: number, what: string): Finding {
  const share = used / limit
  if (!Number.isFinite(share)) return unchecked(check, `the server does not say how much is used ${what}`)
  const text = `${Math.floor(share * 100)} % ${what}`
  return share < NEARLY_USED ? ok(check, text) : notice(check, `${text}. At 100 % it refuses work`)
}

async function checkDisk(directory: string, of: string, otherwise: string): Promise<Finding> {
  try {
    const { blocks, bfree, bavail } = await statfs(directory)
    const used = blocks - bfree
    // As df counts: what the system keeps for itself is neither.
    return judge('limit-disk', used, used + bavail, `of the disk of ${of}: RECORD_RETENTION`)
  } catch {
    return unchecked('limit-disk', otherwise)
  }
}

const USE = `SELECT
  (SELECT sum(numbackends) FROM pg_stat_database)::int AS used,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
  (pg_database_size(current_database()) / 1000000)::int AS megabytes,
  (SELECT setting FROM pg_settings WHERE name = 'data_directory') AS directory`

const useSchema = z.tuple([
  z.object({ used: z.number(), most: z.number(), megabytes: z.number(), directory: z.nullable(z.string()) }),
])

/** Those of a database's limits that it tells. Whether it can be used at all is `checkStores`'s part. */
async function checkDatabase(url: Secret): Promise<Finding[]> {
  const timeouts = { connectTimeoutMs: TIMEOUT_MS, queryTimeoutMs: TIMEOUT_MS }
  try {
    const database = createDatabase({ url, maxConnections: 1, ...timeouts })
    const rows = await database.query(USE).finally(() => database.end())
    const [{ used, most, megabytes, directory }] = useSchema.parse(rows)
    const has = `the database has ${megabytes} MB: what its disk has left is for its machine to tell`
    // PostgreSQL names its directory to superusers and `pg_monitor` alone.
    const isHere = directory !== null && isLocalDatabase(new URL(url.reveal()))
    return [
      isHere ? await checkDisk(directory, 'the database', has) : unchecked('limit-disk', has),
      judge('limit-database', used, most, "of PostgreSQL's connections: max_connections"),
    ]
  } catch {
    return ['limit-disk', 'limit-database'].map((check) => unchecked(check, 'no database to ask'))
  }
}

/** Undefined where nothing answers as the server does. */
async function readMetrics({ host, port }: Config['ops']): Promise<string | undefined> {
  const name = host.includes(':') ? `[${host}]` : host
  try {
    const answer = await fetch(`http://${name}:${port}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    return answer.ok ? await answer.text() : undefined
  } catch {
    return undefined
  }
}

/** NaN without such a line. */
function sampleOf(metrics: string, series: string): number {
  const line = metrics.split('\n').find((each) => each.startsWith(`${series} `))
  return Number(line?.slice(series.length) ?? Number.NaN)
}
