import { refusal } from './refusal.js'
import type { Activity, Reply, StandInAccount } from './types.js'

const LARGEST_PAGE = 100

/** `GET /v2/account/activities`, also for one type: filtered, paged, newest first by default. */
export function activitiesOf(
  { account, query }: { account: StandInAccount; query: URLSearchParams },
  type?: string,
): Reply {
  const size = Number(query.get('page_size') ?? LARGEST_PAGE)
  if (!Number.isInteger(size) || size < 1 || size > LARGEST_PAGE) {
    return refusal(422, 40010001, 'page_size must be between 1 and 100')
  }
  const types = type === undefined ? query.get('activity_types')?.split(',') : [type]
  const [after, until] = [timeOf(query.get('after')), timeOf(query.get('until'))]
  const wanted = account.activities
    .filter((activity) => types?.includes(activity.activity_type) ?? true)
    .filter((activity) => idTime(activity) > (after ?? 0) && idTime(activity) < (until ?? Infinity))
  const ordered = query.get('direction') === 'asc' ? wanted : wanted.toReversed()
  const token = query.get('page_token')
  const from = token === null ? 0 : ordered.findIndex(({ id }) => id === token) + 1
  return { status: 200, body: ordered.slice(from, from + size) }
}

function timeOf(text: string | null): number | undefined {
  return text === null ? undefined : Date.parse(text)
}

/** The activity's time: its id starts with it, in UTC with milliseconds. */
function idTime({ id }: Activity): number {
  const [, date = '', time = '', ms = ''] = /^(\d{8})(\d{6})(\d{3})/.exec(id) ?? []
  const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`
  return Date.parse(`${day}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}.${ms}Z`)
}
