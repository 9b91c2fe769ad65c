import { wordsOf } from './events.js'
import { formatTime } from './format.js'
import type { Shown, Told } from './narration.js'

/**
 * One line for a program: a JSON object with `time` (ISO 8601, UTC), `kind` (`event`, `retraction`, `reset`) and, but for a
 * reset, `contract` (the tag), `event`, and what may be shown: `amount` and `payout` with `amountUnit` and `payoutUnit`
 * (`USDC` or `shares`), `supply` (shares), each a decimal string in base units, `deadline` (ISO 8601) and `version`
 * (decimal string).
 */
export function jsonLine(told: Told): string {
  const start = { time: formatTime(told.time), kind: told.kind }
  if (told.kind === 'reset') return JSON.stringify(start)
  const { event, values } = told.narration
  const fields = Object.fromEntries(values.flatMap(fieldsOf))
  return JSON.stringify({ ...start, contract: wordsOf(event).tag, event, ...fields })
}

function fieldsOf({ name, unit, value }: Shown): [string, string][] {
  const field: [string, string] = [name, unit === 'time' ? formatTime(value) : value.toString()]
  const needsUnit = name === 'amount' || name === 'payout'
  return needsUnit ? [field, [`${name}Unit`, unit]] : [field]
}
