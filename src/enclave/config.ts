import { z } from 'zod'
import { addressSchema } from '../protocol/address.js'
import { bytesToUint, hexOf, hexToBytes } from '../protocol/hex.js'
import { symbolSchema } from '../protocol/identifiers.js'
import { CURVE_ORDER } from '../protocol/signature.js'

const key32 = hexOf(32)
const privateKey = key32.refine((hex) => {
  const scalar = bytesToUint(hexToBytes(hex))
  return scalar > 0n && scalar < CURVE_ORDER
}, 'expected a secp256k1 private key')

const httpUrl = z.url({ protocol: /^https?$/, error: 'expected an http or https URL' })
const brokerKey = z.string().regex(/^[\x21-\x7e]+$/, 'expected printable ASCII without spaces')

function listOf<T extends z.ZodType<unknown, string>>(item: T) {
  return z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(item))
}

function milliseconds(standard: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,7}$/, 'expected whole milliseconds')
    .default(String(standard))
    .transform(Number)
    .pipe(z.int().min(1).max(max, `expected at most ${max}`))
}

/** A call that began before `stopAt` must be over 30 seconds later, when the account's next run may begin. */
const MAX_BROKER_TIMEOUT_MS = 12_000
const MAX_RELAY_TIMEOUT_MS = 28_000

/** The enclave's configuration, from its own file. Every name that it reads is here. */
export const configSchema = z.object({
  LEDGER_MASTER_KEY: key32,
  INTENT_PRIVATE_KEY: privateKey,
  ENCLAVE_PRIVATE_KEY: privateKey,
  ALPACA_KEY_ID: brokerKey,
  ALPACA_SECRET_KEY: brokerKey,
  ALPACA_TRADING_URL: httpUrl.default('https://paper-api.alpaca.markets'),
  ALPACA_DATA_URL: httpUrl.default('https://data.alpaca.markets'),
  /** The enclave's own nodes, in order of preference. */
  RPC_URL: listOf(httpUrl),
  CHAIN_ID: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'expected a chain id')
    .transform(Number),
  INSTITUTION_REGISTRY_ADDRESS: addressSchema,
  ORDER_ESCROW_ADDRESS: addressSchema,
  CONFIDENTIAL_LEDGER_ADDRESS: addressSchema,
  EQUITY_TOKEN_ADDRESS: addressSchema,
  PLATFORM_POOL_ADDRESS: addressSchema,
  /** Base URL of the server that relays. */
  RELAY_URL: httpUrl,
  RELAY_AUTH_TOKEN: z.string().regex(/^[\x21-\x7e]{32,}$/, 'expected 32 printable characters at least'),
  /** Symbols that are not minted or burned for now, comma-separated: before and after a split, for example. */
  RECONCILE_HALTED_SYMBOLS: z
    .literal('')
    .transform((): string[] => [])
    .or(listOf(symbolSchema))
    .default([]),
  BROKER_TIMEOUT_MS: milliseconds(10_000, MAX_BROKER_TIMEOUT_MS),
  RPC_TIMEOUT_MS: milliseconds(10_000, 60_000),
  RELAY_TIMEOUT_MS: milliseconds(25_000, MAX_RELAY_TIMEOUT_MS),
  RELAY_AGAIN_MS: milliseconds(15_000, 300_000),
  CONFIRM_POLL_MS: milliseconds(500, 60_000),
  FILL_WAIT_MS: milliseconds(5_000, 60_000),
  FILL_POLL_MS: milliseconds(500, 60_000),
  ABSENT_AGAIN_MS: milliseconds(30_000, 300_000),
  AMBIGUOUS_AGAIN_MS: milliseconds(2_000, 60_000),
})
export type EnclaveConfig = z.output<typeof configSchema>

/** A configuration with faults. The message names every faulty variable and quotes no value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** @throws ConfigError naming all faults at once */
export function parseConfig(values: Record<string, string | undefined>): EnclaveConfig {
  const parsed = configSchema.safeParse(values)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map(({ path, message }) => {
    const name = String(path[0])
    return values[name] === undefined ? `${name} is missing` : `${name}: ${message}`
  })
  throw new ConfigError(`the enclave's configuration has faults:\n${[...new Set(faults)].join('\n')}`)
}
