// The enclave's side: what dstack and Intel answer, as evidence.
import * as z from 'zod/mini'
import { type Bytes, concatBytes, hexToBytes } from '../../protocol/hex.js'

const hexSchema = z.pipe(
  z.string(),
  z.transform((digits) => hexToBytes(`0x${digits}`)),
)
const RTMR3 = 3

/** What dstack's `GetQuote` answers, as far as it is evidence; the log is a text of JSON. */
export const quoteSchema = z.object({
  /** The kernel's quotes have zeros behind them. */
  quote: z.pipe(hexSchema, z.transform(withoutPadding)),
  event_log: z.pipe(
    z.string(),
    z.transform((text) =>
      eventsSchema
        .parse(JSON.parse(text))
        .filter(({ imr }) => imr === RTMR3)
        .map(({ event, event_payload, version = 1 }) => ({ name: event, payload: event_payload, version })),
    ),
  ),
})
const eventsSchema = z.array(
  z.object({
    imr: z.int(),
    event: z.string(),
    event_payload: hexSchema,
    version: z.optional(z.literal([1, 2])),
  }),
)
export type AnsweredQuote = z.output<typeof quoteSchema>

/** What Intel signed of a processor. Each text is as Intel wrote it, or its signature is of another one. */
export interface SignedByIntel {
  readonly tcb_info: string
  readonly tcb_info_signature: Bytes
  readonly qe_identity: string
  readonly qe_identity_signature: Bytes
  /** DER of the certificate whose key signed both. */
  readonly signer: Bytes
  /** DER of the lists of revoked certificates: of the root, and of the processors' authority. */
  readonly root_crl: Bytes
  readonly pck_crl: Bytes
}

type Item = number | string | Uint8Array | readonly Item[] | { readonly [name: string]: Item }

/** @returns Base64 */
export function encodeEvidence({ quote, event_log }: AnsweredQuote, collateral: SignedByIntel): string {
  const { tcb_info, tcb_info_signature, qe_identity, qe_identity_signature } = collateral
  const { signer, root_crl, pck_crl } = collateral
  const evidence = cbor({
    quote,
    events: event_log.map(({ name, payload, version }) => [
      ...[name, payload],
      ...(version > 1 ? [version] : []),
    ]),
    collateral: {
      ...{ tcb_info, tcb_info_signature, qe_identity, qe_identity_signature },
      ...{ signer, root_crl, pck_crl },
    },
  })
  return btoa(evidence.reduce((text, byte) => text + String.fromCharCode(byte), ''))
}

/** @throws RangeError where it is shorter than a quote */
function withoutPadding(quote: Bytes): Bytes {
  const head = 636
  return quote.subarray(0, head + new DataView(quote.buffer, quote.byteOffset).getUint32(head - 4, true))
}

/** The shortest form (RFC 8949) of an item. */
function cbor(item: Item): Uint8Array {
  if (typeof item === 'number') return head(0, item)
  if (typeof item === 'string') return cborBytes(3, new TextEncoder().encode(item))
  if (item instanceof Uint8Array) return cborBytes(2, item)
  if (Array.isArray(item)) return concatBytes(head(4, item.length), ...item.map(cbor))
  const members = Object.entries(item)
  return concatBytes(head(5, members.length), ...members.flat().map(cbor))
}

function cborBytes(type: number, bytes: Uint8Array): Uint8Array {
  return concatBytes(head(type, bytes.length), bytes)
}

/** Type and number, or length, below 65,536. */
function head(type: number, value: number): Uint8Array {
  if (value < 24) return Uint8Array.of(type * 32 + value)
  if (value < 256) return Uint8Array.of(type * 32 + 24, value)
  return Uint8Array.of(type * 32 + 25, value >> 8, value & 0xff)
}
