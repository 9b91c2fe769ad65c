import * as z from 'zod'
import { confidentialLedgerAbi } from '../chain/generated/confidentialLedgerAbi.js'
import { type Hex, hexBetween } from '../protocol/hex.js'
import { accountIdOf } from '../protocol/identifiers.js'
import { type Portfolio, portfolioSchema } from '../protocol/portfolio.js'
import { openUserBlob } from '../protocol/userBlob.js'
import { createContract } from './contract.js'
import { ClientError } from './errors.js'
import type { Keyring } from './keyring.js'
import type { Platform } from './platform.js'
import type { Wallet } from './wallet.js'

/** The employee's portfolio as the ledger had it at one block. */
export interface OpenedPortfolio {
  readonly portfolio: Portfolio
  /** How often it has been written. */
  readonly version: bigint
  readonly blockNumber: number
}

const MAX_BLOB_BYTES = 65_536
const blobSchema = hexBetween(0, MAX_BLOB_BYTES)

/** What the ledger has of an account. */
interface StoredPortfolio {
  readonly accountId: Hex
  readonly blob: Hex
  readonly version: bigint
  readonly blockNumber: number
}

/**
 * Reads blob and version from the ledger at one block and opens the blob. Null for an account that has none yet.
 * @throws ClientError `portfolio-undecryptable` when it is sealed to a key that is not held
 */
export async function readPortfolio(
  wallet: Wallet,
  ledger: Pick<Platform, 'ledger'>,
  keys: Keyring,
): Promise<OpenedPortfolio | null> {
  const stored = await readStored(wallet, ledger)
  return stored && open(stored, keys)
}

/**
 * The last accepted nonce, before an order is sealed under the newest key; 0 where it cannot be read.
 * @throws ClientError `portfolio-key-missing` when that key is older than one that has been in use since: the order would
 *   seal the portfolio to it again, and it may be the very key that was given up
 */
export async function readNonce(
  wallet: Wallet,
  ledger: Pick<Platform, 'ledger'>,
  keys: Keyring,
): Promise<number> {
  const stored = await readStored(wallet, ledger)
  if (stored === null) return 0
  try {
    return (await open(stored, keys)).portfolio.nonce
  } catch (error) {
    if (!(error instanceof ClientError && error.code === 'portfolio-undecryptable')) throw error
    // Drawn to take the place of a key that is lost. The clock is ahead of the nonce that cannot be read.
    if ((await keys.newest()).portfolioVersion >= stored.version) return 0
    const message =
      'The portfolio is sealed to a newer key than those held here: import its file. If it is lost, make a new key.'
    throw new ClientError('portfolio-key-missing', message, { cause: error })
  }
}

/** How often the account's portfolio has been written; 0 for one that has none yet. */
export async function readVersion(wallet: Wallet, { ledger }: Pick<Platform, 'ledger'>): Promise<bigint> {
  const contract = createContract({ wallet, address: ledger, abi: confidentialLedgerAbi })
  return contract.read('portfolioVersion', [accountIdOf(await wallet.account())], z.bigint())
}

async function readStored(
  wallet: Wallet,
  { ledger }: Pick<Platform, 'ledger'>,
): Promise<StoredPortfolio | null> {
  const contract = createContract({ wallet, address: ledger, abi: confidentialLedgerAbi })
  const accountId = accountIdOf(await wallet.account())
  const blockNumber = await wallet.provider.getBlockNumber()
  const [blob, version] = await Promise.all([
    contract.read('userBlob', [accountId], blobSchema, blockNumber),
    contract.read('portfolioVersion', [accountId], z.bigint(), blockNumber),
  ])
  return version === 0n ? null : { accountId, blob, version, blockNumber }
}

async function open(stored: StoredPortfolio, keys: Keyring): Promise<OpenedPortfolio> {
  const { accountId, blob, version, blockNumber } = stored
  try {
    const value = await keys.opened(({ privateKey }) => openUserBlob(blob, privateKey, accountId, version))
    return { portfolio: portfolioSchema.parse(value), version, blockNumber }
  } catch (error) {
    // The wallet refused to derive its key.
    if (error instanceof ClientError) throw error
    const message =
      'No key that is held here opens the portfolio on chain. If a new one was made, import its file.'
    throw new ClientError('portfolio-undecryptable', message, { cause: error })
  }
}
