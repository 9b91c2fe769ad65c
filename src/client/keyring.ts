import { ProtocolError } from '../protocol/errors.js'
import type { Hex } from '../protocol/hex.js'
import { ClientError } from './errors.js'
import type { PortfolioKey } from './portfolioKey.js'
import type { Wallet } from './wallet.js'

/** What makes an account's keys. */
export interface KeyMaker {
  /** The number of writes of the account's portfolio. */
  portfolioVersion(): Promise<bigint>
  /** Asks the wallet. @throws as `derivePortfolioKey` */
  derive(): Promise<PortfolioKey>
  /** The file of a fresh key, and of those that are held. @param held newest first */
  draw(held: readonly PortfolioKey[]): Promise<string>
  /** The keys in the text of a file. @throws ClientError `invalid-key-file`, `foreign-key-file` */
  keysIn(text: string): Promise<readonly PortfolioKey[]>
}

/** The keys of one account: drawn ones, imported from files, and the one that its wallet derives. */
export function createKeyring(wallet: Pick<Wallet, 'assertExternallyOwned'>, maker: () => Promise<KeyMaker>) {
  let derived: Promise<PortfolioKey> | null = null
  /** Newest first. */
  let drawn: readonly PortfolioKey[] = []
  let locks = 0

  /** Concurrent callers share one derivation. A failed attempt is not kept, unless the wallet would only fail again. */
  function derive(): Promise<PortfolioKey> {
    const attempt = derived ?? maker().then((found) => found.derive())
    derived = attempt
    attempt.catch((error) => {
      if (derived === attempt && !cannotDerive(error)) derived = null
    })
    return attempt
  }

  return {
    /** Whether the key for the next order is there, or the wallet already asked for it. */
    isHeld: () => drawn.length > 0 || derived !== null,
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
     * @throws ClientError `contract-wallet`, `wallet-not-deterministic`
     */
    async signatures(): Promise<0 | 1 | 2> {
      if (drawn.length > 0) return 0
      // A failure that is kept is known at once. Nothing waits for a derivation under way.
      if (derived !== null) return Promise.race([derived, null]).then(() => 0)
      await wallet.assertExternallyOwned()
      return (await (await maker()).portfolioVersion()) > 0n ? 1 : 2
    },
    /** Public keys of the imported ones, newest first. */
    drawn: (): Hex[] => drawn.map(({ publicKey }) => publicKey),
    draw: async (): Promise<string> => (await maker()).draw(drawn),
    async importKeys(text: string): Promise<void> {
      const before = locks
      const keys = await (await maker()).keysIn(text)
      if (locks !== before) return
      const known = new Map([...drawn, ...keys].map((key) => [key.publicKey, key]))
      drawn = [...known.values()].sort((one, other) => other.drawnAt - one.drawnAt)
    },
    lock(): void {
      locks++
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
