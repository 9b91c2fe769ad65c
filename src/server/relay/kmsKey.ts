import { createPublicKey } from 'node:crypto'
import type { KMSClient, KMSClientConfig } from '@aws-sdk/client-kms'
import { z } from 'zod'
import { concatBytes, type Hex, hexToBytes } from '../../protocol/hex.js'
import { addressOfPublicKey } from '../../protocol/publicKey.js'
import { toRecoverable } from './derSignature.js'
import { RelayerKeyError } from './relayerKeyError.js'
import type { RelayerKey } from './signer.js'

type Kms = typeof import('@aws-sdk/client-kms')

export interface KmsKeyOptions {
  /** Key id, ARN or alias of an asymmetric key ECC_SECG_P256K1 for SIGN_VERIFY. */
  readonly keyId: string
  /** Region, credentials and endpoint; what AWS's environment says when left out. */
  readonly client?: KMSClientConfig
  /** The package, which is installed only where it is wanted. */
  readonly load?: () => Promise<Kms>
}

/** A signature waits no longer for one answer, nor between two parts of it, and is tried so often. */
const TIMEOUT_MS = 3_000
const MAX_ATTEMPTS = 3

const publicKeySchema = z.looseObject({
  PublicKey: z.instanceof(Uint8Array),
  KeySpec: z.literal('ECC_SECG_P256K1'),
  KeyUsage: z.literal('SIGN_VERIFY'),
})
const signedSchema = z.looseObject({ Signature: z.instanceof(Uint8Array) })

/**
 * A key in AWS KMS, which never leaves it. Needs the rights `kms:GetPublicKey` and `kms:Sign`.
 * https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html
 *
 * @throws RelayerKeyError when the package is missing, KMS does not answer, or the key is of another kind
 */
export async function openKmsKey(options: KmsKeyOptions): Promise<RelayerKey> {
  const { keyId, load = () => import('@aws-sdk/client-kms') } = options
  const kms = await loaded(load)
  const client = new kms.KMSClient({
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: TIMEOUT_MS,
      requestTimeout: TIMEOUT_MS,
      // Without it the package only writes a warning, and waits on.
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
