import { text } from 'node:stream/consumers'
import { SigningKey } from 'ethers'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import { bytesToUint, concatBytes, type Hex, hexToBytes, uintToBytes } from '../../src/protocol/hex.js'
import { CURVE_ORDER } from '../../src/protocol/signature.js'
import { startHttpServer } from './httpServer.js'

// AWS KMS's JSON protocol: https://docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html

export type KmsStandIn = Awaited<ReturnType<typeof startKmsStandIn>>

const bodySchema = z.record(z.string(), z.unknown())
const SPKI_HEADER = hexToBytes('0x3056301006072a8648ce3d020106052b8104000a034200')

/** Stands in for AWS KMS with one key, and makes real signatures. */
export async function startKmsStandIn(privateKey: Hex) {
  const key = new SigningKey(privateKey)
  const standIn = {
    /** Which half the next signatures have their s in; KMS itself does not care. */
    half: 'low' as 'low' | 'high',
    keySpec: 'ECC_SECG_P256K1',
    /** The failure that it answers with instead of a signature. */
    failure: undefined as { status: number; type: string } | undefined,
    /** The signature, in DER, that it gives in place of its own. */
    other: undefined as Uint8Array | undefined,
    /** It takes what it is asked for, and does not answer. */
    isSilent: false,
    /** The requests, oldest first. */
    requests: [] as { operation: string; body: Record<string, unknown> }[],
    /** The signatures given, in DER. */
    signatures: [] as Uint8Array[],
  }

  function answer(operation: string, body: Record<string, unknown>): object {
    const KeyId = body.KeyId
    if (operation === 'GetPublicKey') {
      const point = hexToBytes(`0x${key.publicKey.slice(2)}`)
      const PublicKey = base64(concatBytes(SPKI_HEADER, point))
      return { KeyId, PublicKey, KeySpec: standIn.keySpec, KeyUsage: 'SIGN_VERIFY' }
    }
    const { r, s } = key.sign(Buffer.from(String(body.Message), 'base64'))
    const low = bytesToUint(hexToBytes(`0x${s.slice(2)}`))
    const own = encodeDer(
      bytesToUint(hexToBytes(`0x${r.slice(2)}`)),
      standIn.half === 'low' ? low : CURVE_ORDER - low,
    )
    const signature = standIn.other ?? own
    standIn.signatures.push(signature)
    return { KeyId, Signature: base64(signature), SigningAlgorithm: body.SigningAlgorithm }
  }

  const server = await startHttpServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).replace('TrentService.', '')
    const body = bodySchema.parse(JSON.parse(await text(request)))
    standIn.requests.push({ operation, body })
    const { failure, isSilent } = standIn
    if (isSilent) return
    response.setHeader('content-type', 'application/x-amz-json-1.1')
    if (failure) response.writeHead(failure.status).end(JSON.stringify({ __type: failure.type }))
    else response.end(JSON.stringify(answer(operation, body)))
  })
  onTestFinished(() => server.stop())
  return Object.assign(standIn, { url: server.url })
}

/** How a client reaches it. */
export function kmsClientOf({ url }: Pick<KmsStandIn, 'url'>) {
  const credentials = { accessKeyId: 'stand-in', secretAccessKey: 'stand-in' }
  return { endpoint: url, region: 'eu-central-1', credentials }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

/** A signature as KMS gives it: DER, where an integer has no more bytes than it needs. */
export function encodeDer(r: bigint, s: bigint): Uint8Array {
  const content = concatBytes(integer(r), integer(s))
  return concatBytes(Uint8Array.of(0x30, content.length), content)
}

function integer(value: bigint): Uint8Array {
  const all = uintToBytes(value, 33)
  const first = all.findIndex((byte) => byte !== 0)
  const short = first === -1 ? Uint8Array.of(0) : all.subarray(first)
  const bytes = (short[0] ?? 0) >= 0x80 ? concatBytes(Uint8Array.of(0), short) : short
  return concatBytes(Uint8Array.of(0x02, bytes.length), bytes)
}
