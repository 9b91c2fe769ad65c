// A stand-in of attested hardware: real documents, below a root of its own that no shipped verifier knows.
import { createHash, hkdfSync, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import {
  authority,
  CERT_SIGN,
  certificate,
  DIGITAL_SIGNATURE,
  document,
  NO_AUTHORITY,
  P384,
  payload,
  pointOf,
  publicKey,
  signerOf,
} from './document.js'
import { cbor, Pairs } from './encode.js'

const FILE = 'device.json'
const YEAR_MS = 365 * 86_400_000
const HOUR_MS = 3_600_000

const fileSchema = z.object({
  /** P-384, as JWK. */
  root: z.object({ kty: z.string(), crv: z.string(), x: z.string(), y: z.string(), d: z.string() }),
  /** DER in Base64. */
  certificate: z.string(),
  /** 32 bytes in Base64: seals, with the measurement. */
  sealing: z.string(),
})

/** Makes a device in the directory. @returns SHA-256 of its root's certificate, in hex */
export async function makeDevice(directory: string): Promise<string> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const pair = await crypto.subtle.generateKey(P384, true, ['sign'])
  const root = await crypto.subtle.exportKey('jwk', pair.privateKey)
  const name = 'test device'
  const made = await certificate({
    ...{ subject: name, issuer: name, sign: signerOf(pair.privateKey), key: publicKey(pointOf(root)) },
    ...{ notBefore: Date.now() - HOUR_MS, notAfter: Date.now() + YEAR_MS },
    extensions: [authority(0), CERT_SIGN],
  })
  const sealing = randomBytes(32).toString('base64')
  const file = { root, certificate: Buffer.from(made).toString('base64'), sealing }
  writeFileSync(join(directory, FILE), JSON.stringify(file), { mode: 0o600, flag: 'wx' })
  return rootOf(made)
}

function rootOf(certificateDer: Uint8Array): string {
  return createHash('sha256').update(certificateDer).digest('hex')
}

/**
 * The device below a program.
 * @param program the path of its file: PCR 0 is its measurement by the rule of AWS
 */
export function openDevice(directory: string, program: string) {
  const file = fileSchema.parse(JSON.parse(readFileSync(join(directory, FILE), 'utf8')))
  const root = Uint8Array.from(Buffer.from(file.certificate, 'base64'))
  const register = registerOf(readFileSync(program))
  const sealingKey = new Uint8Array(hkdfSync('sha256', Buffer.from(file.sealing, 'base64'), '', register, 32))

  async function evidence(userData: Uint8Array, nonce?: Uint8Array): Promise<string> {
    const now = Date.now()
    const pair = await crypto.subtle.generateKey(P384, true, ['sign'])
    const issuer = await crypto.subtle.importKey('jwk', file.root, P384, false, ['sign'])
    const point = pointOf(await crypto.subtle.exportKey('jwk', pair.privateKey))
    const leaf = await certificate({
      ...{ subject: 'test program', issuer: 'test device', sign: signerOf(issuer), key: publicKey(point) },
      ...{ notBefore: now - HOUR_MS, notAfter: now + 3 * HOUR_MS },
      extensions: [NO_AUTHORITY, DIGITAL_SIGNATURE],
    })
    const content = payload({
      module_id: 'test',
      digest: 'SHA384',
      timestamp: now,
      pcrs: new Pairs([[0, register]]),
      certificate: leaf,
      cabundle: [root],
      public_key: null,
      user_data: userData,
      nonce: nonce ?? null,
    })
    return Buffer.from(cbor(await document(content, signerOf(pair.privateKey)))).toString('base64')
  }

  return {
    /** SHA-256 of its root's certificate, in hex. */
    root: rootOf(root),
    /** Of this device and this program alone. */
    sealingKey,
    evidence,
  }
}

/** PCR 0 of a program: `SHA384(0^48 ‖ SHA384(content))`. */
export function registerOf(content: Uint8Array): Uint8Array {
  const sha384 = (...parts: Uint8Array[]) => {
    const hash = createHash('sha384')
    for (const part of parts) hash.update(part)
    return Uint8Array.from(hash.digest())
  }
  return sha384(new Uint8Array(48), sha384(content))
}
