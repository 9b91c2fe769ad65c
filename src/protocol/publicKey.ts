import { getPublicKey, Point } from '@noble/secp256k1'
import { checksum } from './address.js'
import { ProtocolError } from './errors.js'
import { type Bytes, bytesToHex, type Hex, hexToBytes } from './hex.js'
import { keccak256 } from './keccak.js'

/** 33-byte compressed form of a secp256k1 point (SEC 1), given in either form. @throws ProtocolError `invalid-point` */
export function compressPoint(key: Hex): Bytes {
  const bytes = hexToBytes(key)
  try {
    return Uint8Array.from(Point.fromBytes(bytes).toBytes(true))
  } catch {
    throw new ProtocolError('invalid-point', 'not a point on secp256k1')
  }
}

/** The Ethereum address of a public key in either SEC 1 form. @throws if it is not a point on the curve */
export function addressOfPublicKey(key: Uint8Array): Hex {
  return addressOfPoint(Point.fromBytes(key).toBytes(false))
}

/** The Ethereum address of an uncompressed point: 65 bytes already known to lie on the curve. */
export function addressOfPoint(point: Uint8Array): Hex {
  return checksum(`0x${keccak256(point.subarray(1)).slice(-40)}`)
}

/** The Ethereum address of a 32-byte private key. @throws if it is zero, or not below the curve's order */
export function addressOfKey(privateKey: Hex): Hex {
  return addressOfPoint(getPublicKey(hexToBytes(privateKey), false))
}

/** 33-byte public key of a 32-byte private key. */
export function publicKeyOf(privateKey: Uint8Array): Hex {
  return bytesToHex(getPublicKey(privateKey, true))
}
