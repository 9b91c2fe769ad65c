import type { OrderStatus } from '../protocol/api.js'
import { ProtocolError } from '../protocol/errors.js'
import type { Hex } from '../protocol/hex.js'
import { type Notice, openNotice as openSealed } from '../protocol/notice.js'
import { ClientError } from './errors.js'
import { later } from './later.js'
import { derivePortfolioKey, type PortfolioKey } from './portfolioKey.js'
import type { Wallet } from './wallet.js'

const keyFile = /* @__PURE__ */ later(
  () => import('./keyFile.js'),
  (file) => file,
)

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
    draw: async (): Promise<string> => {
      const { drawnKey, fileOf } = await keyFile()
      const [account, version] = await Promise.all([wallet.account(), portfolioVersion()])
      return fileOf(account, [drawnKey(version, drawn[0]), ...drawn])
    },
    async importKeys(text: string): Promise<void> {
      const { keysIn } = await keyFile()
      const keys = await keysIn(text, wallet)
      const known = new Map([...drawn, ...keys].map((key) => [key.publicKey, key]))
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
