// The enclave's side: what dstack and Intel answer, as evidence.
import * as z from 'zod'
import { concatBytes, hexToBytes } from '../../protocol/hex.js'

const hexSchema = z.string().transform((digits) => hexToBytes(`0x${digits}`))
const RTMR3 = 3

/** What dstack's `GetQuote` answers; the log is a text of JSON. */
const quoteSchema = z.object({
  quote: hexSchema,
  event_log: z.string().transform((text) => eventsSchema.parse(JSON.parse(text))),
})
const eventsSchema = z.array(
  z.object({ imr: z.int(), event: z.string(), event_payload: hexSchema, version: z.int().optional() }),
)

/** What `dcap-qvl` and caches like that of Phala give: texts as Intel signed them, hex and PEM. */
const collateralSchema = z.object({
  tcb_info: z.string(),
  tcb_info_signature: hexSchema,
  tcb_info_issuer_chain: z.string(),
  qe_identity: z.string(),
  qe_identity_signature: hexSchema,
  root_ca_crl: hexSchema,
  pck_crl: hexSchema,
})

type Item = number | string | Uint8Array | readonly Item[] | { readonly [name: string]: Item }

/**
 * @param quote what `GetQuote` answers
 * @param collateral what Intel signed of this processor, from any cache: it needs no trust
 * @returns Base64
 * @throws ZodError where a member is missing or is no hex
 */
export function encodeEvidence(quote: unknown, collateral: unknown): string {
  const { quote: whole, event_log } = quoteSchema.parse(quote)
  const { tcb_info_issuer_chain, qe_identity, qe_identity_signature, root_ca_crl, pck_crl, ...tcb } =
    collateralSchema.parse(collateral)
  const { tcb_info, tcb_info_signature } = tcb
  const evidence = cbor({
    quote: withoutPadding(whole),
    events: event_log
      .filter(({ imr }) => imr === RTMR3)
      .map(({ event, event_payload, version = 1 }) => [
        ...[event, event_payload],
        ...(version > 1 ? [version] : []),
      ]),
    collateral: {
      ...{ tcb_info, tcb_info_signature, qe_identity, qe_identity_signature },
      ...{ signer: firstOf(tcb_info_issuer_chain), root_crl: root_ca_crl, pck_crl },
    },
  })
  return btoa(evidence.reduce((text, byte) => text + String.fromCharCode(byte), ''))
}

/** The kernel's quotes have zeros behind them. */
function withoutPadding(quote: Uint8Array): Uint8Array {
  const head = 636
  return quote.subarray(0, head + new DataView(quote.buffer, quote.byteOffset).getUint32(head - 4, true))
}

/** DER of the first certificate of a text. */
function firstOf(pem: string): Uint8Array {
  const [, base64 = ''] = /^-----BEGIN CERTIFICATE-----([^-]+)/.exec(pem) ?? []
  return Uint8Array.from(atob(base64.replaceAll(/\s/g, '')), (letter) => letter.charCodeAt(0))
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
