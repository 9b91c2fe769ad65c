// Secrets to be looked for wherever they must not be, in every form that they could leak in.
import { formatDecimal } from '../../../src/protocol/units.js'

/** A secret with the forms of it that are looked for. */
export interface Canary {
  readonly name: string
  /** As somebody writes it, and may write it at the wrong place. */
  readonly written: string
  /** Looked for as they are, byte by byte. */
  readonly exact: readonly string[]
  /** Lower case, looked for in any case. */
  readonly hex: readonly string[]
}

/** Shorter forms would be found by chance, in ciphertext. */
const LEAST_HEX_DIGITS = 9
const LEAST_BASE64_DIGITS = 7

/** A key: as bytes, hex and base64. */
export function keyCanary(name: string, key: Uint8Array): Canary {
  return canary(name, Buffer.from(key).toString('hex'), [key])
}

/** A text, such as a token, a code or a ticker: as it is, quoted as in JSON, and as `bytes32`. */
export function textCanary(name: string, text: string): Canary {
  return canary(
    name,
    text,
    [text, `"${text}"`, text.padEnd(32, '\0')].map((form) => Buffer.from(form, 'latin1')),
  )
}

/** An amount in base units: as digits, as a decimal number with and without separators, and as `uint256`. */
export function amountCanary(name: string, amount: bigint, decimals: number): Canary {
  const digits = String(amount)
  const decimal = formatDecimal(amount, decimals)
  const [whole = '', fraction = ''] = decimal.split('.')
  const grouped = `${whole.replace(/\B(?=(?:\d{3})+$)/g, ',')}.${fraction}`
  const hex = amount.toString(16)
  const forms = [digits, decimal, grouped].map((form) => Buffer.from(form))
  const uint256 = Buffer.from(hex.padStart(64, '0'), 'hex')
  const all = canary(name, digits, [...forms, uint256])
  return { ...all, hex: [...all.hex, hex].filter((form) => form.length >= LEAST_HEX_DIGITS) }
}

function canary(name: string, written: string, forms: readonly Uint8Array[]): Canary {
  const buffers = forms.map((form) => Buffer.from(form))
  return {
    name,
    written,
    exact: buffers.flatMap((form) => [form.toString('latin1'), ...base64Forms(form)]),
    hex: buffers.map((form) => form.toString('hex')).filter((form) => form.length >= LEAST_HEX_DIGITS),
  }
}

/** The characters that a text's bytes come to in base64 wherever it stands in a longer one; in both alphabets. */
function base64Forms(form: Buffer): string[] {
  const forms = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), form])
      .toString('base64')
      .replace(/=+$/, '')
    // The characters at both ends also hold bits of the neighbours.
    const from = offset === 0 ? 0 : offset + 1
    const to = (offset + form.length) % 3 === 0 ? encoded.length : encoded.length - 1
    return encoded.slice(from, to)
  })
  const long = forms.filter((text) => text.length >= LEAST_BASE64_DIGITS)
  return [...long, ...long.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))]
}

/** Names of the canaries that are in there, in any form. */
export function findCanaries(content: Buffer, canaries: readonly Canary[]): string[] {
  const text = content.toString('latin1')
  const lower = text.toLowerCase()
  return canaries
    .filter(
      ({ exact, hex }) =>
        exact.some((form) => text.includes(form)) || hex.some((form) => lower.includes(form)),
    )
    .map(({ name }) => name)
}
