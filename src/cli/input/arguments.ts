import { type ParseArgsConfig, parseArgs } from 'node:util'
import type * as z from 'zod'
import { bytes32Schema, type Hex } from '../../protocol/hex.js'
import { UsageError } from '../failure.js'

/** The options of every command. `--help` is handled before a command runs. */
export const COMMON_OPTIONS = {
  server: { type: 'string' },
  json: { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
} as const

/** The options of commands that read the chain. */
export const NODE_OPTIONS = { ...COMMON_OPTIONS, rpc: { type: 'string' } } as const

/** The options of commands that use a wallet. */
export const WALLET_OPTIONS = {
  ...NODE_OPTIONS,
  'key-file': { type: 'string' },
  'portfolio-keys': { type: 'string' },
  'enclave-key': { type: 'string' },
  escrow: { type: 'string' },
} as const

type Options = NonNullable<ParseArgsConfig['options']>
type Arguments<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: O; allowPositionals: true; strict: true }>
>

/** @throws UsageError if an option is unknown or lacks its value */
export function readArguments<const O extends Options>(args: readonly string[], options: O): Arguments<O> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'the arguments are wrong')
  }
}

/** @throws UsageError that names the invalid argument */
export function parsed<T>(schema: z.ZodType<T>, value: unknown, name: string): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new UsageError(`${name}: ${result.error.issues[0]?.message ?? 'is malformed'}`)
}

/** The only positional argument, a bytes32. */
export function readId(positionals: readonly string[], name: string): Hex {
  const [text, ...others] = positionals
  if (others.length > 0) throw new UsageError(`expected one ${name}, got ${positionals.length} arguments`)
  return parsed<Hex>(bytes32Schema, text, name)
}

const DURATION = /^([1-9]\d{0,6})([smhd])$/
const UNIT_SECONDS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', 86_400],
])

/** `90s`, `15m`, `24h`, `7d`; in seconds. */
export function readDuration(text: string, name: string): number {
  const [, amount = '', unit = ''] = DURATION.exec(text) ?? []
  const seconds = Number(amount) * (UNIT_SECONDS.get(unit) ?? 0)
  if (seconds === 0) throw new UsageError(`${name}: expected a duration such as 90s, 15m, 24h or 7d`)
  return seconds
}
