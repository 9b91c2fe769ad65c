import { wordsOf } from './events.js'
import { formatTime } from './format.js'
import type { Told } from './narration.js'

/**
 * One line for a program: a JSON object with `time` (ISO 8601, UTC), `kind` (`event`, `retraction`, `reset`) and, but for a
 * reset, `contract` (the tag), `event`, and what may be shown: `amount` and `payout` with `amountUnit` and `payoutUnit`
 * (`USDC` or `shares`), `supply` (shares), each a decimal string in base units, `deadline` (ISO 8601) and `version`
 * (decimal string).
 */
export function jsonLine(told: Told): string {
  const line: Record<string, string> = { time: formatTime(told.time), kind: told.kind }
  if (told.kind === 'reset') return JSON.stringify(line)
  const { event, values } = told.narration
  line.contract = wordsOf(event).tag
  line.event = event
  for (const { name, unit, value } of values) {
    line[name] = unit === 'time' ? formatTime(value) : value.toString()
    if (name === 'amount' || name === 'payout') line[`${name}Unit`] = unit
  }
  return JSON.stringify(line)
}
