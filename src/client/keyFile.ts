// The file of an account's drawn keys: docs/protocol.md, section 4.
import { utils } from '@noble/secp256k1'
import * as z from 'zod/mini'
import { addressSchema } from '../protocol/address.js'
import { bytes32Schema, bytesToHex, type Hex, hexToBytes } from '../protocol/hex.js'
import { timestampSchema } from '../protocol/orderTerms.js'
import { publicKeyOf } from '../protocol/publicKey.js'
import { parseStrictJson } from '../protocol/strictJson.js'
import { uint64Schema } from '../protocol/units.js'
import { ClientError } from './errors.js'
import type { PortfolioKey } from './portfolioKey.js'
import type { Wallet } from './wallet.js'

const MAX_FILE_CHARACTERS = 65_536

const drawnSchema = z.strictObject({
  privateKey: bytes32Schema.check(z.refine(isPrivateKey, 'not a private key of secp256k1')),
  drawnAt: timestampSchema.check(z.minimum(1)),
  portfolioVersion: uint64Schema,
})

const keyFileSchema = z.strictObject({
  v: z.literal(1),
  account: addressSchema,
  keys: z.array(drawnSchema).check(z.minLength(1)),
})

/** A fresh key, newer than the last one that was drawn. @param version the number of writes of the account's portfolio */
export function drawnKey(version: bigint, last: PortfolioKey | undefined): PortfolioKey {
  const now = Math.floor(Date.now() / 1_000)
  return keyOf({
    privateKey: bytesToHex(utils.randomSecretKey()),
    drawnAt: Math.max(now, (last?.drawnAt ?? 0) + 1),
    portfolioVersion: version,
  })
}

/** The keys in the file of the wallet's account. @throws ClientError `invalid-key-file`, `foreign-key-file` */
export async function keysIn(text: string, wallet: Pick<Wallet, 'account'>): Promise<PortfolioKey[]> {
  const file = parseKeyFile(text)
  const account = await wallet.account()
  if (file.account === account) return file.keys.map(keyOf)
  throw new ClientError(
    'foreign-key-file',
    `The key file belongs to ${file.account}. Connect that wallet, or choose the file of ${account}.`,
  )
}

function isPrivateKey(key: Hex): boolean {
  return utils.isValidSecretKey(hexToBytes(key))
}

function keyOf({ privateKey, ...drawn }: z.output<typeof drawnSchema>): PortfolioKey {
  const bytes = hexToBytes(privateKey)
  return { privateKey: bytes, publicKey: publicKeyOf(bytes), ...drawn }
}

export function fileOf(account: Hex, keys: readonly PortfolioKey[]): string {
  const file = {
    v: 1 as const,
    account,
    keys: keys.map(({ privateKey, drawnAt, portfolioVersion }) => ({
      privateKey: bytesToHex(privateKey),
      drawnAt,
      portfolioVersion,
    })),
  }
  return `${JSON.stringify(z.encode(keyFileSchema, file), null, 2)}\n`
}

/** @throws ClientError `invalid-key-file`, which does not quote it */
function parseKeyFile(text: string): z.output<typeof keyFileSchema> {
  try {
    if (text.length <= MAX_FILE_CHARACTERS) return keyFileSchema.parse(parseStrictJson(text))
  } catch {
    // Reported below without the cause: a schema error's text would quote a key.
  }
  throw new ClientError(
    'invalid-key-file',
    'This is not a file of portfolio keys, or it is damaged. Choose the file that was saved when the key was made.',
  )
}
