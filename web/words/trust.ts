import type { Evidence, NextEnclave } from '../../src/client/index.js'
import { money, shortHex, timeOfDay } from './format.js'

/** Who vouches for the hardware, and the kind of machine: by the name of its registers. */
const VENDORS: Readonly<Record<string, readonly [vendor: string, machine: string]>> = {
  pcrs: ['Amazon', 'a Nitro Enclave'],
  nitrotpm_pcrs: ['Amazon', 'a machine with NitroTPM'],
  tdx: ['Intel', 'a machine with TDX, run by dstack'],
}

/** What each line says. */
export interface TrustLines {
  readonly hardware: string
  readonly program: string
  readonly keys: string
  readonly settings: string
}

export function attestedLines(
  { verified: { label, map, measurement, statement, issuedAt } }: Evidence,
  now: Date,
): TrustLines {
  const [vendor, kind] = VENDORS[map] ?? ['Its maker', 'a machine of a kind that this page does not know']
  const at = timeOfDay(new Date(issuedAt).toISOString(), now)
  const { build, signer, configuration } = statement
  return {
    // A quote of TDX has no time: what has one is Intel's word on the firmware.
    hardware: `${vendor} vouches that it is ${kind} (${map === 'tdx' ? 'by its word on the firmware of ' : ''}${at}).`,
    program: `Release ${label}, version ${build.version}, measured as ${shortHex(measurement)}.`,
    keys: `Born inside it. ${holdersOf(configuration)} together could recreate these keys and read every order. Its signer ${shortHex(signer)} is the chain’s.`,
    settings: `Release and settings are on the list that this page’s operator wrote into it. Your orders go to the broker at ${configuration.ALPACA_TRADING_URL ?? 'an unknown address'}.`,
  }
}

/** Those whose shares make the master key. */
export function holdersOf(configuration: Readonly<Record<string, string>>): string {
  const { MASTER_KEY_THRESHOLD: least, MASTER_KEY_HOLDERS: all } = configuration
  if (least === undefined || all === undefined) return 'Holders of the master key'
  return `Any ${least} of the ${all.split(',').length} holders of the master key`
}

/** The lines where nothing is proved. @param publicKey of the enclave, as the page knows it */
export function fileKeyLines(publicKey: string | undefined): TrustLines {
  const known = publicKey === undefined ? '' : ` This page knows the key ${shortHex(publicKey)}.`
  return {
    hardware: 'No vendor vouches for it.',
    program: 'Not proved. The operator says which one runs.',
    keys: `From files, which the operator has.${known}`,
    settings: 'Not proved. The operator chooses them.',
  }
}

/** What each setting is, in the order in which they are listed. */
const SETTINGS: readonly (readonly [setting: string, words: string])[] = [
  ['ALPACA_TRADING_URL', 'Broker, which reads each order'],
  ['ALPACA_ACCOUNT_ID', 'Account at the broker'],
  ['ALPACA_DATA_URL', 'Source of prices'],
  ['RPC_URL', 'Nodes of the chain'],
  ['RPC_WITNESS_URL', 'Witness nodes, of another operator'],
  ['CHAIN_DEPTH', 'Blocks until the chain is believed'],
  ['CHAIN_MAX_HEAD_AGE', 'Oldest block that is believed (ms)'],
  ['BROKER_FEES', 'Broker’s fees'],
  ['ABSENT_RECHECK_AFTER', 'Wait before an order that the broker lacks is refunded (ms)'],
  ['BROKER_TIMEOUT', 'Longest call to the broker (ms)'],
  ['MIN_ORDER', 'Smallest order (USDC)'],
  ['MIN_WITHDRAWAL', 'Smallest withdrawal (USDC)'],
  ['RECONCILE_MIN_ACCOUNTS', 'Accounts in a batch, at least'],
  ['RECONCILE_MAX_DELAY_DAYS', 'Days that a batch waits, at most'],
  ['MASTER_KEY_THRESHOLD', 'Holders who together can make the keys'],
  ['MASTER_KEY_HOLDERS', 'All holders'],
  ['FORMER_PROGRAMS', 'Former programs whose orders it opens'],
  ['CHAIN_ID', 'Chain'],
  ['ORDER_ESCROW_ADDRESS', 'Escrow'],
]

/** Each stated setting with its name in words; those without words come last, by their own names. */
export function settingRows(
  configuration: Readonly<Record<string, string>>,
): readonly (readonly [name: string, value: string])[] {
  const named = SETTINGS.flatMap(([setting, words]) => {
    const value = configuration[setting]
    if (value === undefined) return []
    const isMoney = setting.startsWith('MIN_') && /^\d+$/.test(value)
    return [[words, isMoney ? money(BigInt(value)) : listed(value)] as const]
  })
  const known = new Set(SETTINGS.map(([setting]) => setting))
  const others = Object.entries(configuration).filter(([setting]) => !known.has(setting))
  return [...named, ...others.map(([setting, value]) => [setting, listed(value)] as const)]
}

const listed = (value: string) => value.replaceAll(',', ', ')

/** A change that the chain announces, and whether its program is one that the page accepts. */
export function changeWords(
  { effectiveAt, measurement, verified }: NextEnclave,
  now: Date,
): { readonly says: string; readonly isKnown: boolean } {
  const at = timeOfDay(new Date(effectiveAt * 1_000).toISOString(), now)
  if (verified !== undefined) {
    const says = `From ${at} on another enclave takes over: release ${verified.label}, which this page accepts. You need not do anything.`
    return { says, isKnown: true }
  }
  const program =
    measurement === undefined
      ? 'Nobody has said which program it is'
      : `Its program, ${shortHex(measurement)}, has not proved itself to this page yet`
  const says = `From ${at} on another enclave takes over. ${program}. From then on this page seals no order for a program that it does not accept. But an order that has not ended by then is opened by that program: cancel it before, if you do not trust it.`
  return { says, isKnown: false }
}
