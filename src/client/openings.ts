import { id, TypedDataEncoder } from 'ethers'
import * as z from 'zod/mini'
import { addressSchema, sameAddress, ZERO_ADDRESS } from '../protocol/address.js'
import { bytes32Schema, type Hex, ZERO_BYTES32 } from '../protocol/hex.js'
import { type OpeningPlace, openingDigest, openingTypedData } from '../protocol/opening.js'
import type { PostedOpening } from '../protocol/postedOpening.js'
import { createContract, type Mined } from './contract.js'
import { erc20Abi } from './erc20.js'
import { ClientError, type ClientErrorCode, ContractError } from './errors.js'
import { type Payable, PREFIX_CHARS } from './escrow.js'
import { ESCROW_ABI } from './escrowAbi.js'
import { sharesIn } from './orderIntent.js'
import type { Platform, PlatformContracts } from './platform.js'
import { lookUntil, sleep } from './retry.js'
import type { SealedOrder, SignedOrder } from './sealedOrder.js'
import { signTyped } from './signTyped.js'
import type { Wallet } from './wallet.js'

/**
 * A signed order on the chain: it is `open` (or was), another account has `taken` its id, its signature is still `usable`, or has
 * `expired`. Only a `usable` one can still be opened by its signature.
 */
export type OpeningState = 'open' | 'taken' | 'usable' | 'expired'

type Opened = Mined | { readonly takenBy: Hex }

/** How long a signature can be used, by the chain's time. */
const VALID_S = 600
/** How far the chain's time may be ahead of the device's: by the word of a lying node, a signature could be used for years. */
const MAX_AHEAD_S = 86_400
/** Pause between two looks at the chain. */
const LOOK_MS = 1_000
/** Looks at the chain for each check. */
const LOOKS_PER_CHECK = 3
/** A reorganization may put the transaction into a block below the one that was the latest when the order was signed. */
const DEEPEST_REORG = 64

const OPENED = id('OrderOpened(bytes32,address,uint256,uint64,bytes32)')
const orderSchema = z.object({ account: addressSchema, commit: bytes32Schema, state: z.bigint() })
/** The least state of an order in the escrow that has ended. */
const ENDED = 2n

const NO_SUCH_VIEW = new Set<ClientErrorCode>(['untrusted-escrow', 'unexpected-answer'])

/** Whether the contract lacks the view, and not the node that fails. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ContractError) return true
  return error instanceof ClientError && NO_SUCH_VIEW.has(error.code)
}

/** What the chain shows of an order. */
interface OpenedPart {
  readonly orderId: Hex
  readonly commit: Hex
  readonly account: Hex
  /** Unix seconds, from which on nothing opens the order any more. */
  readonly openableUntil: number
}

/** What to look for, of an order whose opening is signed. */
export function partOf({ orderId, commit, opening }: SignedOrder): OpenedPart {
  return { orderId, commit, account: opening.account, openableUntil: opening.validBefore }
}

/** Openings that the wallet signs, and the platform or the wallet itself sends. */
export function createOpenings(wallet: Wallet) {
  /** One at a time: two signatures for the same money could both be used. */
  let last: { readonly order: SignedOrder; readonly platform: Platform } | undefined

  async function placeOf({ chainId, escrow, usdc }: Platform): Promise<OpeningPlace> {
    const token = createContract({ wallet, address: usdc, abi: erc20Abi })
    const opener = createContract({ wallet, address: escrow, abi: ESCROW_ABI })
    const read = (view: string) => token.read(view, [], z.string())
    const [name, version, separator] = await Promise.all([
      read('name'),
      read('version'),
      read('DOMAIN_SEPARATOR'),
      // An escrow from before signed openings does not answer.
      opener.read('buyNonce', [ZERO_BYTES32, ZERO_BYTES32, 0], z.string()),
    ]).catch((cause: unknown) => {
      if (!isRefusal(cause)) throw cause
      throw new ClientError('opening-unsupported', 'These contracts take no signed openings.', { cause })
    })
    const domain = { name, version, chainId, verifyingContract: usdc }
    if (separator !== TypedDataEncoder.hashDomain(domain)) {
      throw new ClientError('opening-unsupported', 'This USDC signs payments in an unknown domain.')
    }
    return { chainId, escrow, usdc: { address: usdc, name, version } }
  }

  /** At one block, so that an opening that is not there at its expiry never comes. */
  async function look(
    { orderId, commit, account, openableUntil }: OpenedPart,
    contracts: Pick<PlatformContracts, 'escrow'>,
  ) {
    const { number, timestamp } = await wallet.reads.latestBlock()
    const escrow = createContract({ wallet, address: contracts.escrow, abi: ESCROW_ABI })
    const [holder, found] = await Promise.all([
      escrow.read<Hex>('takenBy', [orderId.slice(0, PREFIX_CHARS)], addressSchema, number),
      escrow.read('orders', [orderId], orderSchema, number),
    ])
    const isOpened = sameAddress(found.account, account) && found.commit === commit
    // A node that mines, or several at one address, may answer the first of the two from a later state. The account's own order
    // has its id then: taking it for another's would place the order twice.
    const isAhead = sameAddress(holder, account) && found.account === ZERO_ADDRESS
    const isTaken = holder !== ZERO_ADDRESS && !isAhead
    const isExpired = timestamp >= openableUntil && !isAhead
    const state: OpeningState = isOpened ? 'open' : isTaken ? 'taken' : isExpired ? 'expired' : 'usable'
    return { state, holder, isEnded: isOpened && found.state >= ENDED }
  }

  /** The event's transaction; null where the node does not have it yet. */
  async function transactionOf(
    { orderId }: SignedOrder,
    { escrow }: Platform,
    since: number,
  ): Promise<Mined | null> {
    const filter = {
      address: escrow,
      topics: [OPENED, orderId],
      fromBlock: Math.max(0, since - DEEPEST_REORG),
    }
    const [log] = await wallet.reads.logged(filter)
    return log ? { txHash: log.transactionHash, blockNumber: log.blockNumber } : null
  }

  /** The newest block, from whose time on a signature can be used for a while. */
  async function newestBlock() {
    const block = await wallet.reads.latestBlock()
    if (block.timestamp <= Date.now() / 1_000 + MAX_AHEAD_S) return block
    throw new ClientError(
      'opening-unsupported',
      'The newest block is a day ahead of this device, so no opening is signed. Correct the clock, or choose another node.',
    )
  }

  async function assertOffered(platform: Platform): Promise<void> {
    await Promise.all([placeOf(platform), newestBlock(), wallet.assertExternallyOwned()])
  }

  async function assertOpenable({ intent }: Payable, platform: Platform): Promise<void> {
    const what = platform.takesOpenings
      ? 'The platform opens no deposit of shares.'
      : 'This server opens no orders.'
    if (!platform.takesOpenings || sharesIn(intent) !== null) {
      throw new ClientError('opening-unsupported', `${what} Pay the gas from the wallet.`)
    }
    await assertOffered(platform)
  }

  async function stateOf(order: SignedOrder, contracts: Pick<PlatformContracts, 'escrow'>) {
    return (await look(partOf(order), contracts)).state
  }

  return {
    /** An order on the chain, at the latest block of the wallet's own node. */
    look,
    stateOf,
    /** Whether server, contracts and account let the platform open the order. @throws ClientError `opening-unsupported`, `contract-wallet` */
    assertOpenable,
    /** Whether the contracts take signed openings, and the account has a key of its own, whose signature they verify. */
    async isOffered(platform: Platform): Promise<boolean> {
      try {
        await assertOffered(platform)
        return true
      } catch (error) {
        const codes: readonly string[] = ['opening-unsupported', 'contract-wallet']
        if (error instanceof ClientError && codes.includes(error.code)) return false
        throw error
      }
    },
    /** Whether no signature of an opening can still be used, neither that of the order noted last nor those of `earlier` orders. */
    async areAllOver(platform: Platform, earlier: readonly SignedOrder[]): Promise<boolean> {
      const account = await wallet.account()
      const mine = earlier.filter(({ opening }) => sameAddress(opening.account, account))
      const noted = last === undefined ? [] : [stateOf(last.order, last.platform)]
      const states = await Promise.all([...noted, ...mine.map((order) => stateOf(order, platform))])
      return !states.includes('usable')
    },
    /**
     * Requests the wallet's signature that opens the order, `since` the latest block. Sends nothing.
     * @throws ClientError `opening-unsupported`, `contract-wallet`, `signature-refused`, `signature-invalid`
     */
    async sign(
      sealed: SealedOrder,
      platform: Platform,
    ): Promise<{ readonly opening: PostedOpening; readonly since: number }> {
      const account = await wallet.account()
      const [place, { number, timestamp }] = await Promise.all([
        placeOf(platform),
        newestBlock(),
        wallet.assertExternallyOwned(),
      ])
      const { orderId, commit, escrowed: amount, intent } = sealed
      const signed = { account, amount, deadline: intent.expiry, validBefore: timestamp + VALID_S }
      const order = { ...signed, orderId, commit }
      const data = { ...openingTypedData(order, place), digest: openingDigest(order, place) }
      const sig = await signTyped(wallet, data)
      // A delegate's signature opens nothing.
      await wallet.assertExternallyOwned()
      return { opening: { ...signed, sig }, since: number }
    },
    /** Notes that others have the signature from now on. */
    note(order: SignedOrder, platform: Platform): void {
      last = { order, platform }
    },
    /**
     * Waits until the escrow has the order.
     * @param options.since the latest block when the order was signed
     * @param options.check called now and then; what it throws ends the wait
     * @returns its transaction, or the account that has taken the order's id
     * @throws ClientError `opening-expired`
     */
    async opened(
      order: SignedOrder,
      platform: Platform,
      options: { since: number; check?: () => Promise<void>; signal?: AbortSignal | undefined },
    ): Promise<Opened> {
      const { since, check, signal } = options
      async function lookOnce(): Promise<Opened | null> {
        const { state, holder } = await look(partOf(order), platform)
        if (state === 'open') return transactionOf(order, platform, since)
        if (state === 'taken') return { takenBy: holder }
        if (state === 'usable') return null
        throw new ClientError(
          'opening-expired',
          'The platform did not open the order in time. Place it again.',
        )
      }
      const giveUpAt = Date.now() + wallet.miningTimeoutMs
      for (let looks = 1; ; looks++) {
        const found = await lookUntil(giveUpAt, lookOnce)
        if (found !== null) return found
        if (looks % LOOKS_PER_CHECK === 0) await check?.()
        await sleep(LOOK_MS, signal)
      }
    },
    /** The account that has taken the order's id; null if none has, or the order is open. */
    async takenBy(order: SignedOrder, platform: Platform): Promise<Hex | null> {
      const { state, holder } = await look(partOf(order), platform)
      return state === 'taken' ? holder : null
    },
  }
}

export type Openings = ReturnType<typeof createOpenings>
