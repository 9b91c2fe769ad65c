import { utils } from '@noble/secp256k1'
import * as z from 'zod/mini'
import { addressSchema } from '../protocol/address.js'
import type { OrderStatus } from '../protocol/api.js'
import { ProtocolError } from '../protocol/errors.js'
import { bytes32Schema, bytesToHex, type Hex, hexToBytes } from '../protocol/hex.js'
import { timestampSchema } from '../protocol/intent.js'
import { type Notice, openNotice as openSealed } from '../protocol/notice.js'
import { publicKeyOf } from '../protocol/publicKey.js'
import { parseStrictJson } from '../protocol/strictJson.js'
import { uint64Schema } from '../protocol/units.js'
import { ClientError } from './errors.js'
import { derivePortfolioKey, type PortfolioKey } from './portfolioKey.js'
import type { Wallet } from './wallet.js'

const MAX_FILE_CHARACTERS = 65_536

const drawnSchema = z.strictObject({
  privateKey: bytes32Schema.check(z.refine(isPrivateKey, 'not a private key of secp256k1')),
  drawnAt: timestampSchema.check(z.minimum(1)),
  portfolioVersion: uint64Schema,
})

/** The file of drawn keys: docs/protocol.md, section 4. */
const keyFileSchema = z.strictObject({
  v: z.literal(1),
  account: addressSchema,
  keys: z.array(drawnSchema).check(z.minLength(1)),
})

/** The keys of one account: drawn ones, imported from files, and the one that its wallet derives. */
export function createKeyring(deps: {
  readonly wallet: Wallet
  /** The number of writes of the account's portfolio. */
  readonly portfolioVersion: () => Promise<bigint>
  /** Whether a key opens the account's portfolio; false without one, or where that cannot be read. */
  readonly opens: (key: PortfolioKey) => Promise<boolean>
}) {
  const { wallet, portfolioVersion, opens } = deps
  let derived: Promise<PortfolioKey> | null = null
  /** Newest first. */
  let drawn: readonly PortfolioKey[] = []

  /** Concurrent callers share one derivation. A failed attempt is not kept, unless the wallet would only fail again. */
  function derive(): Promise<PortfolioKey> {
    const attempt = derived ?? derivePortfolioKey(wallet, opens)
    derived = attempt
    attempt.catch((error) => {
      if (derived === attempt && !cannotDerive(error)) derived = null
    })
    return attempt
  }

  return {
    /** The key for the next order. Asks the wallet only if no drawn key is held. */
    newest: async () => drawn[0] ?? derive(),
    /**
     * Tries the keys from the newest to the oldest, and the key that the wallet derives, if it can, last.
     * @param open throws ProtocolError `undecryptable` if it needs another key
     */
    async opened<T>(open: (key: PortfolioKey) => Promise<T>): Promise<T> {
      let undecryptable: unknown = null
      for (const key of drawn) {
        try {
          return await open(key)
        } catch (error) {
          if (!(error instanceof ProtocolError && error.code === 'undecryptable')) throw error
          undecryptable = error
        }
      }
      const key = await derive().catch((error) => {
        throw undecryptable !== null && cannotDerive(error) ? undecryptable : error
      })
      return open(key)
    },
    /**
     * How often the wallet will be asked before there is a key: not at all where one is held, once where it can open a portfolio, else
     * twice. Once more where the portfolio turns out to be sealed to another key.
     * @throws ClientError `contract-wallet`
     */
    async signatures(): Promise<0 | 1 | 2> {
      if (drawn.length > 0 || derived !== null) return 0
      await wallet.assertExternallyOwned()
      return (await portfolioVersion()) > 0n ? 1 : 2
    },
    /** Public keys of the imported ones, newest first. */
    drawn: (): Hex[] => drawn.map(({ publicKey }) => publicKey),
    async draw(): Promise<string> {
      const [account, version] = await Promise.all([wallet.account(), portfolioVersion()])
      const now = Math.floor(Date.now() / 1_000)
      const drawnAt = Math.max(now, (drawn[0]?.drawnAt ?? 0) + 1)
      const key = keyOf({
        privateKey: bytesToHex(utils.randomSecretKey()),
        drawnAt,
        portfolioVersion: version,
      })
      return fileOf(account, [key, ...drawn])
    },
    async importKeys(text: string): Promise<void> {
      const file = parseKeyFile(text)
      const account = await wallet.account()
      if (file.account !== account) {
        throw new ClientError(
          'foreign-key-file',
          `The key file belongs to ${file.account}. Connect that wallet, or choose the file of ${account}.`,
        )
      }
      const known = new Map([...drawn, ...file.keys.map(keyOf)].map((key) => [key.publicKey, key]))
      drawn = [...known.values()].sort((one, other) => other.drawnAt - one.drawnAt)
    },
    lock(): void {
      derived = null
      drawn = []
    },
  }
}

export type Keyring = ReturnType<typeof createKeyring>

/**
 * Whether a failure says that the wallet has no derived key at all: its owner draws one before the first order.
 * @example const isDrawn = await client.getPortfolio().then(() => false, cannotDerive)
 */
export function cannotDerive(error: unknown): boolean {
  const codes: readonly string[] = ['wallet-not-deterministic', 'contract-wallet']
  return error instanceof ClientError && codes.includes(error.code)
}

function isPrivateKey(key: Hex): boolean {
  return utils.isValidSecretKey(hexToBytes(key))
}

function keyOf({ privateKey, ...drawn }: z.output<typeof drawnSchema>): PortfolioKey {
  const bytes = hexToBytes(privateKey)
  return { privateKey: bytes, publicKey: publicKeyOf(bytes), ...drawn }
}

function fileOf(account: Hex, keys: readonly PortfolioKey[]): string {
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

/**
 * Opens an order's notice: why it was refused, or its fill with fees (`filled`). Null while the server has none. A
 * refund can lack a notice if no key in the envelope could be trusted, or if the server lost its cache.
 * @throws ClientError `notice-undecryptable` if the notice is another order's, or sealed to a key that is not held
 */
export async function openNotice(
  status: Pick<OrderStatus, 'orderId' | 'notice'>,
  keys: Keyring,
): Promise<Notice | null> {
  const { notice, orderId } = status
  if (notice === null) return null
  try {
    return await keys.opened(({ privateKey }) => openSealed(notice, privateKey, orderId))
  } catch (cause) {
    if (!(cause instanceof ProtocolError)) throw cause
    const message = 'No imported or derived key opens the notice: it was sealed to another key, or altered.'
    throw new ClientError('notice-undecryptable', message, { cause })
  }
}
