import { statfs } from 'node:fs/promises'
import { type Finding, notice, ok, unchecked } from '../../protocol/finding.js'
import type { Config } from '../../server/config/config.js'

/** The share of a limit from which on the doctor warns. */
const NEARLY_USED = 0.8
const TIMEOUT_MS = 5_000

/** Holds what the running server has used against its limits, by the operator's port alone. docs/scaling.md has them all. */
export async function checkLimits(config: Config): Promise<Finding[]> {
  const disk = config.databaseUrl === undefined ? [await checkDisk(config.dataDir)] : []
  const metrics = await readMetrics(config.ops)
  if (metrics === undefined)
    return [...disk, unchecked('limits', 'no server answers at OPS_PORT: what it has used is not known')]
  const of = (name: string, labels = '') => sampleOf(metrics, `${name}${labels}`)
  const gas = of('trading_relay_gas_per_day') - of('trading_relay_gas_reserve')
  const { maxQueued, maxOpenings } = config.relay
  return [
    ...disk,
    judge(
      'limit-gas',
      gas - of('trading_relay_gas_remaining'),
      gas,
      "of today's gas for new orders: RELAY_DAILY_GAS",
    ),
    judge(
      'limit-relay',
      of('trading_relay_under_way', '{stage="queued"}'),
      maxQueued + maxOpenings,
      "of the relay's queue: see what its transactions wait for",
    ),
    judge(
      'limit-envelopes',
      of('trading_orders_unopened'),
      config.unopened.maxOrders,
      'of the room for orders without an escrow: ENVELOPE_MAX_WAITING',
    ),
    judge('limit-files', of('process_open_fds'), of('process_max_fds'), 'of the open files: ulimit -n'),
    // Hardly any of the server's files are no connections.
    judge(
      'limit-connections',
      of('process_open_fds'),
      config.http.maxConnections,
      'of the connections: MAX_CONNECTIONS',
    ),
    judgeOwn(
      Object.entries(SETTINGS).map(([limit, setting]) => [
        setting,
        of('trading_own_limit_highest_share', `{limit="${limit}"}`),
      ]),
    ),
  ]
}

/** What bounds one client, account or institution, and the setting that raises it. */
const SETTINGS: Readonly<Record<string, string>> = {
  rate: 'requests in a minute (RATE_LIMIT_PER_MINUTE)',
  'node-calls': 'calls of the nodes (a proxy, or fewer pages behind one address)',
  'at-once': 'requests at once (MAX_UNDER_WAY)',
  connections: 'connections (MAX_CONNECTIONS)',
  envelopes: 'orders without an escrow (ENVELOPE_MAX_WAITING)',
  openings: 'orders under way that the platform opens (its wallet can open more)',
  'account-gas': 'gas of an account (RELAY_ACCOUNT_DAILY_GAS)',
  'institution-gas': 'gas of an institution (RELAY_ACCOUNT_DAILY_GAS)',
}

function judgeOwn(shares: readonly (readonly [setting: string, share: number])[]): Finding {
  const check = 'limit-clients'
  if (shares.some(([, share]) => Number.isNaN(share)))
    return unchecked(check, 'the server does not say what one client has used of its limits')
  const near = shares.filter(([, share]) => share >= NEARLY_USED)
  if (near.length === 0)
    return ok(check, 'no client, account or institution has come near a limit of its own')
  const list = near.map(([setting, share]) => `${Math.floor(share * 100)} % of its ${setting}`).join(', ')
  return notice(check, `since the server's start, one client, account or institution has used ${list}`)
}

function judge(check: string, used: number, limit: number, what: string): Finding {
  const share = used / limit
  if (!Number.isFinite(share)) return unchecked(check, `the server does not say how much is used ${what}`)
  const text = `${Math.floor(share * 100)} % ${what}`
  return share < NEARLY_USED ? ok(check, text) : notice(check, `${text}. At 100 % it refuses work`)
}

async function checkDisk(directory: string): Promise<Finding> {
  try {
    const { blocks, bfree, bavail } = await statfs(directory)
    const used = blocks - bfree
    // As df counts: what the system keeps for itself is neither.
    return judge('limit-disk', used, used + bavail, 'of the disk of DATA_DIR: RECORD_RETENTION')
  } catch {
    return unchecked('limit-disk', 'DATA_DIR is not there yet')
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
