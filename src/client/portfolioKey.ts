import type { Bytes, Hex } from '../protocol/hex.js'
import { PORTFOLIO_KEY_MESSAGE, portfolioKeyOf } from '../protocol/portfolioKey.js'
import { publicKeyOf } from '../protocol/publicKey.js'
import { ClientError } from './errors.js'
import type { Wallet } from './wallet.js'

/** The key pair that opens an employee's portfolio and notices. */
export interface PortfolioKey {
  /** 32 bytes. Keep it only in memory: the wallet, or the file of a drawn key, can restore it. */
  readonly privateKey: Bytes
  /** 33 bytes: `userPubKey` of the account's intents. */
  readonly publicKey: Hex
  /** Unix seconds; 0 for the key that the wallet derives, which counts as older than any drawn one. */
  readonly drawnAt: number
  /** The number of portfolio writes when the key was drawn. Up to that version, an order may replace a lost key. */
  readonly portfolioVersion: bigint
}

/**
 * Derives the portfolio key from the wallet. Where the key opens nothing yet, it requests the same signature twice: a wallet that does not
 * sign deterministically (RFC 6979), such as one whose key is shared among several devices, could never derive the same key again.
 *
 * The text names no origin: a page that obtains this signature can read the portfolio. Call it on your own page only.
 *
 * @param opens whether a key opens the account's portfolio: then the wallet has made it before
 * @throws ClientError `contract-wallet`, `signature-refused`, `signature-invalid`, `wallet-not-deterministic`
 */
export async function derivePortfolioKey(
  wallet: Wallet,
  opens: (key: PortfolioKey) => Promise<boolean>,
): Promise<PortfolioKey> {
  await wallet.assertExternallyOwned()
  const account = await wallet.account()
  const privateKey = await keyFrom(wallet, account)
  const publicKey = publicKeyOf(privateKey)
  const key = { privateKey, publicKey, drawnAt: 0, portfolioVersion: 0n }
  if (!(await opens(key)) && publicKey !== publicKeyOf(await keyFrom(wallet, account))) {
    throw new ClientError(
      'wallet-not-deterministic',
      'This wallet signs the same text differently each time, so it cannot derive a portfolio key. Draw a key, keep its file, and import it.',
    )
  }
  return key
}

async function keyFrom(wallet: Wallet, account: Hex): Promise<Bytes> {
  const signature = await wallet.signText(PORTFOLIO_KEY_MESSAGE)
  // The account may have a delegate that signs for it.
  await wallet.assertExternallyOwned()
  try {
    return await portfolioKeyOf(signature, account)
  } catch (error) {
    throw new ClientError('signature-invalid', `The wallet's signature does not belong to ${account}.`, {
      cause: error,
    })
  }
}
