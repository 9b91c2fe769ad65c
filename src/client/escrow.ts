import * as z from 'zod'
import { orderEscrowAbi } from '../chain/generated/orderEscrowAbi.js'
import { addressSchema, sameAddress, ZERO_ADDRESS } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { createContract, type Mined } from './contract.js'
import { erc20Abi } from './erc20.js'
import { ClientError, ContractError } from './errors.js'
import type { SealedOrder } from './orderIntent.js'
import type { PlatformContracts } from './platform.js'
import type { Wallet } from './wallet.js'

/** Characters of an order id's first 16 bytes, `0x` included. */
const PREFIX_DIGITS = 34

/** Errors of the contracts behind the escrow, which the escrow's own ABI lacks. */
const ERRORS_BEHIND = [
  'error NotAdmitted(bytes32 orgId)',
  'error Leaving(address wallet, uint64 effectiveAt)',
  'error PlatformPaused(uint64 until)',
  'error WalletFrozen(bytes32 symbol, address wallet)',
]
/** The escrow's ABI, with the errors of every contract that it calls. */
export const ESCROW_ABI = [...orderEscrowAbi, ...ERRORS_BEHIND]

/** The wallet's USDC, in base units. */
export interface Funds {
  readonly balance: bigint
  /** The amount that the escrow may take without another approval. */
  readonly allowance: bigint
}

/** Opens and reclaims orders on chain. Methods throw ContractError and ClientError as `ClientContract.send` does. */
export interface Escrow {
  /**
   * Opens the order's escrow. If it escrows USDC and the allowance is short, first approves exactly that amount.
   * @param onStep called before each request to the wallet
   * @throws ClientError `insufficient-usdc`
   */
  open(order: SealedOrder, onStep?: (step: 'approving' | 'opening') => void): Promise<Mined>
  /**
   * The account whose order has the same first 16 bytes in its id, if the escrow refused this one for that reason; else
   * null. Ids are random, so that account copies ids from pending transactions.
   * @param error the error that {@link open} threw
   */
  takenBy(orderId: Hex, error: unknown): Promise<Hex | null>
  /** The USDC that the wallet can spend on a BUY. */
  funds(): Promise<Funds>
  /** Ends an unanswered order, from seven days after its deadline; returns its USDC. */
  reclaim(orderId: Hex): Promise<Mined>
}

interface EscrowDeps {
  readonly wallet: Wallet
  readonly contracts: Pick<PlatformContracts, 'escrow' | 'usdc'>
}

export function createEscrow({ wallet, contracts }: EscrowDeps): Escrow {
  const escrow = createContract({ wallet, address: contracts.escrow, abi: ESCROW_ABI })
  const usdc = createContract({ wallet, address: contracts.usdc, abi: erc20Abi })

  async function funds(): Promise<Funds> {
    const account = await wallet.account()
    const [balance, allowance] = await Promise.all([
      usdc.read('balanceOf', [account], z.bigint()),
      usdc.read('allowance', [account, contracts.escrow], z.bigint()),
    ])
    return { balance, allowance }
  }

  async function ensureAllowance(amount: bigint, onApprove: () => void): Promise<void> {
    const { balance, allowance } = await funds()
    if (balance < amount) {
      throw new ClientError('insufficient-usdc', 'The wallet holds less USDC than the order escrows.')
    }
    if (allowance >= amount) return
    onApprove()
    await usdc.send('approve', [contracts.escrow, amount])
  }

  return {
    async open({ orderId, commit, escrowed, intent }, onStep) {
      if (escrowed > 0n) await ensureAllowance(escrowed, () => onStep?.('approving'))
      onStep?.('opening')
      if (escrowed === 0n) return escrow.send('openRequest', [orderId, commit, intent.expiry])
      return escrow.send('openBuy', [orderId, commit, escrowed, intent.expiry])
    },
    async takenBy(orderId, error) {
      if (!(error instanceof ContractError)) return null
      if (error.code === 'OrderIdTaken') return addressSchema.parse(error.args.by)
      // Some nodes omit a revert's data.
      if (error.code !== 'unknown') return null
      const holder = await escrow.read('takenBy', [orderId.slice(0, PREFIX_DIGITS)], addressSchema)
      return holder === ZERO_ADDRESS || sameAddress(holder, await wallet.account()) ? null : holder
    },
    funds,
    reclaim: (orderId) => escrow.send('reclaim', [orderId]),
  }
}
