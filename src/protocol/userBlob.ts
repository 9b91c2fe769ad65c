import { IV_BYTES, TAG_BYTES } from './aesGcm.js'
import { type Envelope, type EnvelopePlace, open, seal } from './envelope.js'
import { ProtocolError } from './errors.js'
import { type Bytes, bytesToHex, concatBytes, type Hex, hexToBytes, uintToBytes } from './hex.js'

const FORMAT = 0x01
const POINT_BYTES = 33
const IV_AT = 1 + POINT_BYTES
const TAG_AT = IV_AT + IV_BYTES
const CT_AT = TAG_AT + TAG_BYTES

/**
 * `0x01 ‖ epk(33) ‖ iv(12) ‖ tag(16) ‖ ct`: the portfolio sealed to the employee, as `userBlob` is stored.
 * @param previous padded bytes of the plaintext that it replaces
 */
export async function sealUserBlob(
  value: unknown,
  userPubKey: Hex,
  accountId: Hex,
  version: bigint,
  previous = 0,
): Promise<Hex> {
  const place = placeOf(accountId, version)
  const { epk, iv, ct, tag } = await seal(value, userPubKey, place, undefined, previous)
  return bytesToHex(
    concatBytes(Uint8Array.of(FORMAT), hexToBytes(epk), hexToBytes(iv), hexToBytes(tag), hexToBytes(ct)),
  )
}

/** Opens a stored user blob and returns its JSON value, unvalidated. @throws ProtocolError */
export async function openUserBlob(blob: Hex, key: Bytes, accountId: Hex, version: bigint): Promise<unknown> {
  const bytes = hexToBytes(blob)
  if (bytes.length <= CT_AT || bytes[0] !== FORMAT)
    throw new ProtocolError('invalid-bytes', 'not a user blob of format 1')
  const envelope: Envelope = {
    epk: bytesToHex(bytes.subarray(1, IV_AT)),
    iv: bytesToHex(bytes.subarray(IV_AT, TAG_AT)),
    tag: bytesToHex(bytes.subarray(TAG_AT, CT_AT)),
    ct: bytesToHex(bytes.subarray(CT_AT)),
  }
  return open(envelope, key, placeOf(accountId, version))
}

function placeOf(accountId: Hex, version: bigint): EnvelopePlace {
  return { kind: 'portfolio', context: concatBytes(hexToBytes(accountId), uintToBytes(version, 8)) }
}
