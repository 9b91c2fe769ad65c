// What a holder of a share of the master key keeps: her key, and her share, which opens with it alone. Files of mode 0600.

import * as z from 'zod'
import { addressSchema, sameAddress } from '../../protocol/address.js'
import type { Envelope } from '../../protocol/envelope.js'
import { provisionEnvelopeSchema } from '../../protocol/envelopeForm.js'
import { ProtocolError } from '../../protocol/errors.js'
import { type Hex, hexOf, hexToBytes } from '../../protocol/hex.js'
import { chainIdSchema } from '../../protocol/identifiers.js'
import type { IntentDomain } from '../../protocol/intentDomain.js'
import { type MasterShare, openShare } from '../../protocol/masterShare.js'
import { type BrokerKeys, brokerKeysSchema, holderSchema } from '../../protocol/provisioning.js'
import { publicKeyOf } from '../../protocol/publicKey.js'
import { writeNewFile } from '../../service/privateFile.js'
import { Secret } from '../../service/secret.js'
import { CommandError, usage } from '../../terminal/failure.js'
import { draw, readSecret } from '../secretFiles.js'
import { readJsonFile } from './jsonFile.js'

interface HolderKey {
  readonly privateKey: Secret<Hex>
  /** 33 bytes. */
  readonly publicKey: Hex
}

export function makeHolderKey(path: string): HolderKey {
  writeNewFile(path, `${draw.privateKey()}\n`)
  return readHolderKey(path)
}

/** @throws CommandError `secret-shared`, `secret-malformed` */
export function readHolderKey(path: string): HolderKey {
  const { data } = hexOf(32).safeParse(readSecret(path).toString().trimEnd())
  try {
    if (data !== undefined) return { privateKey: new Secret(data), publicKey: publicKeyOf(hexToBytes(data)) }
  } catch {
    // Zero, or beyond the order of the curve: no key either.
  }
  throw new CommandError('secret-malformed', `${path} is no private key: expected 0x and 64 hex digits`)
}

const keptShareSchema = z.strictObject({
  chainId: chainIdSchema,
  escrow: addressSchema,
  holder: holderSchema,
  envelope: provisionEnvelopeSchema,
})

/** @param envelope sealed to the holder's key, as the founding has it */
export function writeShare(path: string, { chainId, escrow }: IntentDomain, holder: Hex, envelope: Envelope) {
  writeNewFile(path, `${JSON.stringify({ chainId, escrow, holder, envelope }, null, 2)}\n`)
}

/** @throws CommandError `secret-shared`, `secret-malformed`, or `usage` where it is of another deployment or holder */
export async function readShare(
  path: string,
  domain: IntentDomain,
  { privateKey, publicKey }: HolderKey,
): Promise<MasterShare> {
  const { data } = keptShareSchema.safeParse(readJsonFile(path, readSecret))
  if (data === undefined)
    throw new CommandError('secret-malformed', `${path} is no share that "accept" wrote`)
  if (data.chainId !== domain.chainId || !sameAddress(data.escrow, domain.escrow))
    throw usage(`${path} is a share of another deployment`)
  if (data.holder !== publicKey) throw usage(`${path} is a share of another holder's key`)
  const share = await openOwn(data.envelope, privateKey, domain)
  if (share === undefined) throw new CommandError('secret-malformed', `${path} does not open`)
  return share
}

/** Undefined where it is sealed to another key, or for another deployment. */
export async function openOwn(
  envelope: Envelope,
  privateKey: Secret<Hex>,
  domain: IntentDomain,
): Promise<MasterShare | undefined> {
  try {
    return await openShare(envelope, hexToBytes(privateKey.reveal()), ['share-of-holder', domain])
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}

const { keyId, secretKey } = brokerKeysSchema.shape
const brokerFileSchema = z.strictObject({ keyId, secretKey })

/** JSON with `keyId` and `secretKey`. @throws CommandError `secret-shared`, `secret-malformed` */
export function readBrokerKeys(path: string): BrokerKeys {
  const { data } = brokerFileSchema.safeParse(readJsonFile(path, readSecret))
  if (data !== undefined) return { v: 1, ...data }
  throw new CommandError('secret-malformed', `${path} has no broker's keys: expected "keyId" and "secretKey"`)
}
