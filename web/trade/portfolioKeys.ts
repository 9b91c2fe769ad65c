// The keys of a portfolio stay in the page's memory. All that the browser keeps of a drawn one is when it was made, so that no
// order is sealed under the key that it replaced.
import { type Client, ClientError, type Hex, type PortfolioKey } from '../../src/client/index.js'

/** What the page shows of the key in use. */
export type KeyInUse = Pick<PortfolioKey, 'publicKey' | 'drawnAt'>

const PREFIX = 'desk:portfolio-key:'

/** When the newest key was made that this browser has seen of an account, in Unix seconds; 0 for none. */
export function newestMade(account: Hex): number {
  const made = Number(localStorage.getItem(PREFIX + account))
  return Number.isSafeInteger(made) ? made : 0
}

/**
 * Opens the portfolio under a key of a file, so that the wallet signs for its own key now, where that one is needed, and
 * not when the page asks the chain again. Without a file it has signed.
 * @returns the newest key
 */
export async function openKeys(client: Pick<Client, 'unlock' | 'portfolio'>): Promise<KeyInUse> {
  const { publicKey, drawnAt } = await client.unlock()
  try {
    if (drawnAt > 0) await client.portfolio()
  } catch (error) {
    // The card says so. An order under a key that was made to replace a lost one mends it.
    if (!(error instanceof ClientError && error.code === 'portfolio-undecryptable')) throw error
  }
  return { publicKey, drawnAt }
}

/** Takes a key file into use. @returns its newest key, or a newer one that was held before */
export async function takeKeyFile(
  client: Pick<Client, 'account' | 'importKeys' | 'unlock' | 'portfolio'>,
  text: string,
): Promise<KeyInUse> {
  await client.importKeys(text)
  const [account, { drawnAt }] = [await client.account(), await client.unlock()]
  localStorage.setItem(PREFIX + account, String(Math.max(drawnAt, newestMade(account))))
  return openKeys(client)
}
