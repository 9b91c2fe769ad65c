import * as z from 'zod/mini'
import { type EnvelopePlace, open, seal } from './envelope.js'
import { type Bytes, bytes32Schema, type Hex, hexToBytes } from './hex.js'

/** Why an order was refused or waits, or what its fill came to, readable by the employee alone. */
const noticeSchema = z.strictObject({
  orderId: bytes32Schema,
  /** A kebab-case code for programs to branch on. */
  code: z.string().check(z.regex(/^[a-z0-9-]{1,64}$/)),
  /** One sentence for a person. */
  message: z.string().check(z.maxLength(400)),
})
export type Notice = z.output<typeof noticeSchema>

/** Whether a notice says why an order waits for its turn at the broker: the order goes on. */
export function isOfWait(code: string): boolean {
  return code.startsWith('waits-')
}

/** Seals a notice to the employee's key. */
export function sealNotice(notice: Notice, userPubKey: Hex) {
  return seal(z.encode(noticeSchema, notice), userPubKey, placeOf(notice.orderId))
}

/** Opens the notice of `orderId`; another order's notice does not open. @throws ProtocolError, ZodError */
export async function openNotice(
  envelope: Parameters<typeof open>[0],
  key: Bytes,
  orderId: Hex,
): Promise<Notice> {
  return noticeSchema.parse(await open(envelope, key, placeOf(orderId)))
}

function placeOf(orderId: Hex): EnvelopePlace {
  return { kind: 'notice', context: hexToBytes(orderId) }
}
