import { createPublicKey } from 'node:crypto'
import type { KMSClient, KMSClientConfig } from '@aws-sdk/client-kms'
import * as z from 'zod'
import {
  bytesToHex,
  bytesToUint,
  concatBytes,
  type Hex,
  hexToBytes,
  uintToBytes,
} from '../../protocol/hex.js'
import { addressOfKey, addressOfPublicKey } from '../../protocol/publicKey.js'
import { CURVE_ORDER, isSignedByKey } from '../../protocol/signature.js'
import type { Secret } from '../../service/secret.js'
import { withTimeout } from '../../service/waiting.js'
import { type Curve, createCurve } from './curve.js'
import { prepareTransaction, type RawTransaction, type UnsignedTransaction } from './transaction.js'

/** Signs for the account that pays the gas, wherever its key is kept. */
export interface RelayerSigner {
  readonly address: Hex
  /** May be slow, and fail. */
  sign(transaction: UnsignedTransaction): Promise<RawTransaction>
}

/** A key that a service keeps. */
interface RelayerKey {
  readonly address: Hex
  /** Low-s ECDSA over the 32 bytes as they are: 65 bytes `r ‖ s ‖ v`, v 27 or 28. */
  signDigest(digest: Hex): Promise<Hex>
}

/** The key has not answered. A signature that comes later is thrown away. */
class SigningTimeoutError extends Error {
  override readonly name = 'SigningTimeoutError'
}

/** Every key of ours gives up earlier. The nonce is in use until then, and the monitor may wait for it. */
const PATIENCE_MS = 20_000

export function createKeySigner({ address, signDigest }: RelayerKey): RelayerSigner {
  return {
    address,
    /** @throws what the key throws, SigningTimeoutError */
    async sign(transaction) {
      const prepared = prepareTransaction(transaction)
      const signature = await withTimeout(signDigest(prepared.digest), PATIENCE_MS)
      if (signature === undefined) throw new SigningTimeoutError('the key has not signed in time')
      return prepared.signed(signature)
    },
  }
}

export function createPrivateSigner(privateKey: Secret<Hex>, curve = createCurve()): RelayerSigner {
  const key = privateKey.reveal()
  return {
    address: addressOfKey(key),
    sign: (transaction) => curve.signTransaction(transaction, key),
  }
}

export type RelayerKeyPlace =
  | { readonly kind: 'private-key'; readonly privateKey: Secret<Hex> }
  | { readonly kind: 'kms'; readonly keyId: string }

/** @throws RelayerKeyError when the place does not give a usable key */
export async function openRelayerSigner(place: RelayerKeyPlace, curve?: Curve): Promise<RelayerSigner> {
  if (place.kind === 'kms') return createKeySigner(await openKmsKey({ keyId: place.keyId }))
  return createPrivateSigner(place.privateKey, curve)
}

/** The relayer's account has no usable key. The message is for the operator who starts the server, and names no secret. */
export class RelayerKeyError extends Error {
  override readonly name = 'RelayerKeyError'
}

type Kms = typeof import('@aws-sdk/client-kms')

/** The longest wait for one answer, and between two parts of it; and how many times a signature is tried. */
const TIMEOUT_MS = 3_000
const MAX_ATTEMPTS = 3

const publicKeySchema = z.looseObject({
  PublicKey: z.instanceof(Uint8Array),
  KeySpec: z.literal('ECC_SECG_P256K1'),
  KeyUsage: z.literal('SIGN_VERIFY'),
})
const signedSchema = z.looseObject({ Signature: z.instanceof(Uint8Array) })

/**
 * A key in AWS KMS, which never exports it. Needs the rights `kms:GetPublicKey` and `kms:Sign`.
 * https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html
 *
 * @throws RelayerKeyError when the package is missing, KMS does not answer, or the key is of another kind
 */
export async function openKmsKey(options: {
  /** Key id, ARN or alias of an asymmetric key ECC_SECG_P256K1 for SIGN_VERIFY. */
  readonly keyId: string
  /** Region, credentials and endpoint; those of AWS's environment by default. */
  readonly client?: KMSClientConfig
  readonly load?: () => Promise<Kms>
}): Promise<RelayerKey> {
  const { keyId, load = () => import('@aws-sdk/client-kms') } = options
  const kms = await loaded(load)
  const client = new kms.KMSClient({
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: TIMEOUT_MS,
      requestTimeout: TIMEOUT_MS,
      // The package would only log a warning without it, and go on waiting.
      throwOnRequestTimeout: true,
      socketTimeout: TIMEOUT_MS,
    },
    ...options.client,
  })
  const address = await addressOf(kms, client, keyId)
  return {
    address,
    async signDigest(digest) {
      const command = new kms.SignCommand({
        KeyId: keyId,
        Message: hexToBytes(digest),
        MessageType: 'DIGEST',
        SigningAlgorithm: 'ECDSA_SHA_256',
      })
      const { Signature } = signedSchema.parse(await client.send(command))
      return toRecoverable(Signature, digest, address)
    },
  }
}

async function loaded(load: () => Promise<Kms>): Promise<Kms> {
  try {
    return await load()
  } catch (cause) {
    throw new RelayerKeyError(
      'RELAYER_KMS_KEY_ID needs the optional package @aws-sdk/client-kms: install it, or set RELAYER_PRIVATE_KEY.',
      { cause },
    )
  }
}

async function addressOf(kms: Kms, client: KMSClient, keyId: string): Promise<Hex> {
  const answer = await client.send(new kms.GetPublicKeyCommand({ KeyId: keyId })).catch((cause: unknown) => {
    const name = cause instanceof Error ? cause.name : 'unknown failure'
    throw new RelayerKeyError(`AWS KMS does not give the public key of RELAYER_KMS_KEY_ID: ${name}.`, {
      cause,
    })
  })
  const parsed = publicKeySchema.safeParse(answer)
  if (!parsed.success) {
    throw new RelayerKeyError('The key of RELAYER_KMS_KEY_ID is not one of ECC_SECG_P256K1 for SIGN_VERIFY.')
  }
  return addressOfPublicKey(pointOf(parsed.data.PublicKey))
}

const pointSchema = z.looseObject({ crv: z.literal('secp256k1'), x: z.base64url(), y: z.base64url() })

/** The point of a public key in DER, SubjectPublicKeyInfo (RFC 5280, 4.1.2.7): 65 bytes. */
function pointOf(der: Uint8Array): Uint8Array {
  const key = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' })
  const { x, y } = pointSchema.parse(key.export({ format: 'jwk' }))
  return concatBytes(Uint8Array.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url'))
}

/**
 * An integer of an ECDSA-Sig-Value in DER (RFC 3279, 2.2.3), and where it ends. The form is not checked: the two integers must be the
 * signer's signature anyway.
 */
function integerAt(der: Uint8Array, at: number): { value: bigint; end: number } {
  const end = at + 2 + (der[at + 1] ?? 0)
  return { value: bytesToUint(der.subarray(at + 2, end)), end }
}

/**
 * The form that all other code uses: `r ‖ s ‖ v`, s in the lower half (EIP-2), v 27 or 28. Two points
 * have this r, and v names the one that recovers to the signer.
 *
 * @throws TypeError, ProtocolError when it is not this signer's signature over this digest
 */
function toRecoverable(der: Uint8Array, digest: Hex, signer: Hex): Hex {
  const { value: r, end } = integerAt(der, 2)
  const { value: s } = integerAt(der, end)
  const low = s > CURVE_ORDER / 2n ? CURVE_ORDER - s : s
  for (const v of [27, 28]) {
    const signature = bytesToHex(concatBytes(uintToBytes(r, 32), uintToBytes(low, 32), Uint8Array.of(v)))
    if (isSignedByKey(signer, digest, signature)) return signature
  }
  throw new TypeError('not a signature of this key')
}
