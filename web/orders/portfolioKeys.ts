// The keys of a portfolio stay in the page's memory. The browser stores only the creation time of a drawn key, so that
// no order is sealed under the key that it replaced.
import { type Client, ClientError, type Hex, type PortfolioKey } from '../../src/client/index.js'

/** The part of the key in use that the page shows. */
export type KeyInUse = Pick<PortfolioKey, 'publicKey' | 'drawnAt'>

const PREFIX = 'desk:portfolio-key:'

/** The creation time of the account's newest key that this browser has seen, in Unix seconds; 0 for none. */
export function newestMade(account: Hex): number {
  const made = Number(localStorage.getItem(PREFIX + account))
  return Number.isSafeInteger(made) ? made : 0
}

/**
 * Opens the portfolio, so that the wallet is asked for its derived key now if needed, rather than on the next poll.
 * @returns the newest key
 */
export async function openKeys(client: Pick<Client, 'unlock' | 'getPortfolio'>): Promise<KeyInUse> {
  const { publicKey, drawnAt } = await client.unlock()
  try {
    if (drawnAt > 0) await client.getPortfolio()
  } catch (error) {
    // The card reports it. An order under a replacement key repairs it.
    if (!(error instanceof ClientError && error.code === 'portfolio-undecryptable')) throw error
  }
  return { publicKey, drawnAt }
}

/** Imports a key file. @returns its newest key, or a newer one that was already held */
export async function takeKeyFile(
  client: Pick<Client, 'getAccount' | 'importKeys' | 'unlock' | 'getPortfolio'>,
  text: string,
): Promise<KeyInUse> {
  await client.importKeys(text)
  const [account, { drawnAt }] = [await client.getAccount(), await client.unlock()]
  localStorage.setItem(PREFIX + account, String(Math.max(drawnAt, newestMade(account))))
  return openKeys(client)
}
