import * as z from 'zod/mini'
import type { CorporateAction } from '../protocol/corporateActions.js'
import { bytes32Schema, type Hex, hexBetween } from '../protocol/hex.js'
import { accountIdOf } from '../protocol/identifiers.js'
import { type Portfolio, portfolioSchema } from '../protocol/portfolio.js'
import { openUserBlob } from '../protocol/userBlob.js'
import { PORTFOLIO_ABI } from './abis.js'
import { type ActionList, actionCode } from './actionList.js'
import { createContract } from './contract.js'
import { ClientError } from './errors.js'
import type { Keyring } from './keyring.js'
import type { PlatformContracts } from './platform.js'
import type { PortfolioKey } from './portfolioKey.js'
import type { Wallet } from './wallet.js'

/** The employee's portfolio at one block. */
export interface OpenedPortfolio {
  /** Carried over all corporate actions of the block. */
  readonly portfolio: Portfolio
  /**
   * Dividends that are not in it, because no key opens the portfolio of their ex-date: they were entered after the account's next
   * order. Empty as a rule.
   */
  readonly uncounted: readonly CorporateAction[]
  /** The number of writes. */
  readonly version: bigint
  readonly blockNumber: number
}

const MAX_BLOB_BYTES = 65_536
const blobSchema = hexBetween(0, MAX_BLOB_BYTES)

/** An account's record on the ledger. */
interface StoredPortfolio {
  readonly accountId: Hex
  readonly blob: Hex
  readonly version: bigint
  readonly blockNumber: number
}

interface PortfolioDeps {
  readonly wallet: Wallet
  readonly contracts: Pick<PlatformContracts, 'ledger' | 'actions'>
  readonly keys: Keyring
  readonly actionList: ActionList
}

/**
 * Reads blob and version from the ledger at one block, opens the blob, and carries the portfolio over the corporate actions of that
 * block. Null for an account that has none yet.
 * @throws ClientError `portfolio-undecryptable` if the blob is sealed to a key that is not held
 */
export async function readPortfolio({
  wallet,
  contracts,
  keys,
  actionList,
}: PortfolioDeps): Promise<OpenedPortfolio | null> {
  const stored = await readStored(wallet, contracts)
  if (stored === null) return null
  const { version, blockNumber } = stored
  const ledger = createContract({ wallet, address: contracts.ledger, abi: PORTFOLIO_ABI })
  const [actions, hash] = await Promise.all([
    actionList(wallet, contracts.actions, blockNumber),
    ledger.read('portfolioHash', [stored.accountId], bytes32Schema, blockNumber),
  ])
  // Before a key is made: code that does not load fails while nothing has been signed.
  const code = actions.length === 0 ? null : await actionCode(wallet.signal)
  const portfolio = await open(stored, keys)
  if (code === null) return { portfolio, uncounted: [], version, blockNumber }
  const at = { wallet, ledger: contracts.ledger, keys, block: blockNumber }
  return { ...(await code.carriedOver({ portfolio, version, hash }, actions, at)), version, blockNumber }
}

/**
 * The last accepted nonce, for an order under the newest key; 0 if it cannot be read.
 * @throws ClientError `portfolio-key-missing` if a newer key than the newest held one is in use. The order would seal
 *   the portfolio to the older key again, possibly the very key that was phished.
 */
export async function readNonce(
  wallet: Wallet,
  ledger: Pick<PlatformContracts, 'ledger'>,
  keys: Keyring,
): Promise<number> {
  const stored = await readStored(wallet, ledger)
  if (stored === null) return 0
  try {
    return (await open(stored, keys)).nonce
  } catch (error) {
    if (!(error instanceof ClientError && error.code === 'portfolio-undecryptable')) throw error
    // The newest key was drawn to replace a lost one. The clock is ahead of the unreadable nonce.
    if ((await keys.newest()).portfolioVersion >= stored.version) return 0
    const message =
      'The portfolio is sealed to a newer key than those imported here: import its file. If it is lost, make a new key.'
    throw new ClientError('portfolio-key-missing', message, { cause: error })
  }
}

/** The number of writes of the account's portfolio; 0 for an account that has none yet. */
export async function readVersion(
  wallet: Wallet,
  { ledger }: Pick<PlatformContracts, 'ledger'>,
): Promise<bigint> {
  const contract = createContract({ wallet, address: ledger, abi: PORTFOLIO_ABI })
  return contract.read('portfolioVersion', [accountIdOf(await wallet.account())], z.bigint())
}

/** Whether a key opens the account's portfolio; false without one, or where it cannot be read. */
export async function opensPortfolio(
  wallet: Wallet,
  contracts: () => Promise<Pick<PlatformContracts, 'ledger'>>,
  { privateKey }: PortfolioKey,
): Promise<boolean> {
  try {
    const stored = await readStored(wallet, await contracts())
    if (stored === null) return false
    const { accountId, blob, version } = stored
    await openUserBlob(blob, privateKey, accountId, version)
    return true
  } catch {
    return false
  }
}

async function readStored(
  wallet: Wallet,
  { ledger }: Pick<PlatformContracts, 'ledger'>,
): Promise<StoredPortfolio | null> {
  const contract = createContract({ wallet, address: ledger, abi: PORTFOLIO_ABI })
  const accountId = accountIdOf(await wallet.account())
  const blockNumber = await wallet.reads.blockNumber()
  const [blob, version] = await Promise.all([
    contract.read('userBlob', [accountId], blobSchema, blockNumber),
    contract.read('portfolioVersion', [accountId], z.bigint(), blockNumber),
  ])
  return version === 0n ? null : { accountId, blob, version, blockNumber }
}

async function open({ accountId, blob, version }: StoredPortfolio, keys: Keyring): Promise<Portfolio> {
  try {
    const value = await keys.opened(({ privateKey }) => openUserBlob(blob, privateKey, accountId, version))
    return portfolioSchema.parse(value)
  } catch (error) {
    // The user rejected the signature that derives the key.
    if (error instanceof ClientError) throw error
    const message =
      'No imported or derived key opens the portfolio on chain. If you made a new key, import its file.'
    throw new ClientError('portfolio-undecryptable', message, { cause: error })
  }
}
