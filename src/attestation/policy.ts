import type { Hex } from '../protocol/hex.js'
import { sha256 } from './bytes.js'
import { demand } from './errors.js'
import { type Claims, type RegisterMap, type Registers, ZERO_REGISTER } from './nitro.js'

/**
 * A program that is accepted, with its public configuration. During an upgrade, the former one and the next stand in one policy. It names
 * the registers of one kind of machine, and each has to be as named.
 */
export interface AcceptedProgram {
  /** People read it. */
  readonly label: string
  /** Registers of a Nitro Enclave: at least 0, the whole image. 1 is a kernel of AWS, and 2 may be the hash of nothing. */
  readonly pcrs?: Registers
  /**
   * Registers of a machine with NitroTPM: at least 4, the image that is booted; 2, drivers that the firmware loads before it; 12 and 13, which
   * are zero while nobody adds to its command line or puts an extension beside it.
   */
  readonly nitrotpm_pcrs?: Registers
  /** A machine of dstack: firmware, its hardware, kernel, its command line, `app-compose.json` and who may release its keys. */
  readonly tdx?: Readonly<
    Record<'mrtd' | 'rtmr0' | 'rtmr1' | 'rtmr2' | 'composeHash' | 'keyProvider', string>
  >
  /** SHA-256 of the configuration's canonical JSON. */
  readonly configuration: Hex
  /** Unix milliseconds from which on it is accepted no more. */
  readonly until?: number
}

/**
 * The registers without which no program is pinned, by the name of their map, in the order of RFC 8785. Zeros in the last one pin nothing:
 * debug mode shows them.
 */
const LEAST_PINS = new Map([
  ['pcrs', ['0']],
  ['nitrotpm_pcrs', ['12', '13', '2', '4']],
  ['tdx', ['composeHash', 'keyProvider', 'mrtd', 'rtmr0', 'rtmr1', 'rtmr2']],
])
/** A register and its value: SHA-384, or SHA-256 of what dstack names by a word. */
const PIN = /^(?:\d+|mrtd|rtmr\d):[0-9a-f]{96}$|^(?:composeHash|keyProvider):[0-9a-f]{64}$/

/**
 * Names a measured program, whatever else a policy pins: as the chain's `signerProgram()` has it, and as its keys are derived.
 * @param registers of a document
 * @returns `0x` and SHA-256 of canonical JSON (RFC 8785), such as `{"pcrs":{"0":"…"}}`, of the registers without which no program is pinned
 * @throws AttestationError `malformed-evidence` where one of them is missing
 */
export async function measurementOf(map: RegisterMap, registers: Registers): Promise<Hex> {
  const pinned = LEAST_PINS.get(map) ?? []
  demand(pinned.every((index) => registers[index]))
  return `0x${await sha256(JSON.stringify({ [map]: registers }, [map, ...pinned]))}`
}

/** @throws AttestationError `malformed-policy`, also for a policy without a program, and for a program that is not pinned */
export function checkPolicy(programs: unknown): asserts programs is readonly AcceptedProgram[] {
  demand(Array.isArray(programs) && programs.length > 0 && programs.every(isPinned), 'malformed-policy')
}

function isPinned(program: unknown): program is AcceptedProgram {
  const { label, configuration, until, ...maps }: Readonly<Record<string, unknown>> = Object(program)
  const [[map = '', pins] = [], ...others] = Object.entries(maps)
  const least = LEAST_PINS.get(map)
  const registers: Readonly<Record<string, unknown>> = Object(pins)
  return (
    typeof label === 'string' &&
    /^0x[0-9a-f]{64}$/.test(`${configuration}`) &&
    (until === undefined || typeof until === 'number') &&
    least !== undefined &&
    others.length === 0 &&
    Object.entries(registers).every(([index, value]) => PIN.test(`${index}:${value}`)) &&
    least.every((index) => index in registers) &&
    registers[least.at(-1) ?? ''] !== ZERO_REGISTER
  )
}

/**
 * The programs that a document may be of: one measured program, perhaps in several configurations.
 * @param now Unix milliseconds
 * @throws AttestationError `unknown-program`, or `retired-program` where its time is over
 */
export function programsOf(programs: readonly AcceptedProgram[], claims: Claims, now: number) {
  const matching = programs.filter(({ [claims.map]: pins }) => {
    // The policy's registers are looked up in the document: the other way round, a document without any would pass.
    const isAsNamed = ([index, value]: [string, string]) => claims.registers[index] === value
    return pins !== undefined && Object.entries(pins).every(isAsNamed)
  })
  demand(matching.length > 0, 'unknown-program')
  const current = matching.filter(({ until }) => until === undefined || now < until)
  demand(current.length > 0, 'retired-program')
  return current
}
