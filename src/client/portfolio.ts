import * as z from 'zod'
import { confidentialLedgerAbi } from '../chain/generated/confidentialLedgerAbi.js'
import { hexBetween } from '../protocol/hex.js'
import { accountIdOf } from '../protocol/identifiers.js'
import { type Portfolio, portfolioSchema } from '../protocol/portfolio.js'
import { openUserBlob } from '../protocol/userBlob.js'
import { createContract } from './contract.js'
import { ClientError } from './errors.js'
import type { Platform } from './platform.js'
import type { PortfolioKey } from './portfolioKey.js'
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

/**
 * Reads blob and version from the ledger at one block and opens the blob. Null for an account that has none yet.
 * @throws ClientError `portfolio-undecryptable` when it is sealed to another key
 */
export async function readPortfolio(
  wallet: Wallet,
  { ledger }: Pick<Platform, 'ledger'>,
  key: PortfolioKey,
): Promise<OpenedPortfolio | null> {
  const contract = createContract({ wallet, address: ledger, abi: confidentialLedgerAbi })
  const accountId = accountIdOf(await wallet.account())
  const blockNumber = await wallet.provider.getBlockNumber()
  const [blob, version] = await Promise.all([
    contract.read('userBlob', [accountId], blobSchema, blockNumber),
    contract.read('portfolioVersion', [accountId], z.bigint(), blockNumber),
  ])
  if (version === 0n) return null
  try {
    const portfolio = portfolioSchema.parse(await openUserBlob(blob, key.privateKey, accountId, version))
    return { portfolio, version, blockNumber }
  } catch (error) {
    const message = "This wallet's key does not open the portfolio on chain."
    throw new ClientError('portfolio-undecryptable', message, { cause: error })
  }
}
