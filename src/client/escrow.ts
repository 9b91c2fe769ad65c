import { addressSchema, sameAddress, ZERO_ADDRESS } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { nameToBytes32, sharesAddressOf } from '../protocol/identifiers.js'
import { createBatch } from './batch.js'
import { type ClientContract, createContract, type Mined } from './contract.js'
import { erc20Abi } from './erc20.js'
import { ClientError, ContractError } from './errors.js'
import { ESCROW_ABI } from './escrowAbi.js'
import { fundsOf } from './funds.js'
import { sharesIn } from './orderIntent.js'
import type { PlatformContracts } from './platform.js'
import type { SealedOrder, SignedOrder } from './sealedOrder.js'
import type { Wallet } from './wallet.js'

/** Characters of an order id's first 16 bytes, `0x` included. */
export const PREFIX_CHARS = 34

type Funding = 'allowed' | 'batch' | 'short'

/** What an order takes out of the wallet. */
export interface Payment {
  /** `USDC`, or the shares' ticker. */
  readonly symbol: string
  /** USDC base units, or share base units. */
  readonly amount: bigint
}

/** The part of an order that decides what it takes. */
export type Payable = Pick<SealedOrder, 'escrowed'> & {
  readonly intent: Pick<SealedOrder['intent'], 'side' | 'symbol' | 'maxSpend'>
}

/** Null for a request. */
export function paymentOf({ escrowed, intent }: Payable): Payment | null {
  return sharesIn(intent) ?? (escrowed === 0n ? null : { symbol: 'USDC', amount: escrowed })
}

/** What an approval grants: at least the payment, and of USDC what the caller wants for later orders too. */
export function approvedFor({ symbol, amount }: Payment, approve = 0n): bigint {
  return symbol === 'USDC' && approve > amount ? approve : amount
}

/** Opens and reclaims orders on chain. Methods throw ContractError and ClientError as `ClientContract.send` does. */
export function createEscrow(deps: {
  readonly wallet: Wallet
  readonly contracts: Pick<PlatformContracts, 'escrow' | 'usdc' | 'token'>
}) {
  const { wallet, contracts } = deps
  const escrow = createContract({ wallet, address: contracts.escrow, abi: ESCROW_ABI })
  const usdc = createContract({ wallet, address: contracts.usdc, abi: erc20Abi })
  const batch = createBatch(wallet)

  const fundsIn = (asset: ClientContract) => fundsOf(asset, wallet, contracts.escrow)

  /** The allowance for a payment. @throws ClientError `insufficient-usdc`, `insufficient-shares` */
  async function allowanceFor(payment: Payment): Promise<bigint> {
    const { balance, allowance } = await fundsIn(assetOf(payment))
    if (balance >= payment.amount) return allowance
    throw payment.symbol === 'USDC'
      ? new ClientError('insufficient-usdc', 'The wallet holds less USDC than the order escrows.')
      : new ClientError('insufficient-shares', 'The wallet holds fewer shares than the deposit takes.')
  }

  const assetOf = ({ symbol }: Payment): ClientContract =>
    symbol === 'USDC'
      ? usdc
      : createContract({ wallet, address: sharesAddressOf(contracts.token, symbol), abi: erc20Abi })

  /** The escrow's call for an order that pays. */
  function openingOf({ orderId, commit, intent }: SealedOrder, { symbol, amount }: Payment) {
    return symbol === 'USDC'
      ? { method: 'openBuy', args: [orderId, commit, amount, intent.expiry] }
      : { method: 'openDeposit', args: [orderId, commit, nameToBytes32(symbol), amount, intent.expiry] }
  }

  function openSigned({ orderId, commit, opening }: SignedOrder): Promise<Mined> {
    const { account, amount, deadline, validBefore, sig } = opening
    if (amount === 0n) {
      return escrow.send('openRequestFor', [[account, orderId, commit, deadline, validBefore], sig])
    }
    return escrow.send('openBuyFor', [[account, orderId, commit, amount, deadline, validBefore], sig])
  }

  return {
    /** @throws ClientError `insufficient-usdc`, `insufficient-shares` */
    async assertFunds(order: Payable): Promise<void> {
      const payment = paymentOf(order)
      if (payment !== null) await allowanceFor(payment)
    },
    /**
     * How the wallet's USDC or shares get into the escrow without a transaction of its own for the approval, where it can: `allowed` already or
     * nothing to pay, or in a `batch` with the approval. Otherwise `short`.
     * @throws ClientError `insufficient-usdc`, `insufficient-shares`
     */
    async fundingOf(order: Payable): Promise<Funding> {
      const payment = paymentOf(order)
      if (payment === null) return 'allowed'
      if ((await allowanceFor(payment)) >= payment.amount) return 'allowed'
      return (await batch.isOffered()) ? 'batch' : 'short'
    },
    /**
     * Opens the order's escrow. A `short` one by its signed opening; without that it first approves exactly the amount, or what is to
     * be approved at least.
     * @param onStep called before each request to the wallet
     */
    async open(
      order: SealedOrder,
      funding: Funding,
      {
        approve = 0n,
        onStep,
      }: { approve?: bigint | undefined; onStep?: (step: 'approving' | 'opening') => void },
    ): Promise<Mined> {
      const { orderId, commit, intent, opening } = order
      const payment = paymentOf(order)
      if (payment === null) {
        onStep?.('opening')
        return escrow.send('openRequest', [orderId, commit, intent.expiry])
      }
      const asset = assetOf(payment)
      const { method, args } = openingOf(order, payment)
      const approval = [contracts.escrow, approvedFor(payment, approve)]
      if (funding === 'short' && opening === undefined) {
        onStep?.('approving')
        await asset.send('approve', approval)
      }
      onStep?.('opening')
      if (funding === 'batch') {
        return batch.send([asset.call('approve', approval), escrow.call(method, args)], method)
      }
      return opening === undefined ? escrow.send(method, args) : openSigned({ orderId, commit, opening })
    },
    /** Sends the order's signed opening, at the wallet's own cost. */
    openSigned,
    /**
     * The account whose order has the same first 16 bytes in its id, if the escrow refused this one for that reason; else
     * null. Ids are random, so that account copies ids from pending transactions.
     * @param error the error that {@link open} threw
     */
    async takenBy(orderId: Hex, error: unknown): Promise<Hex | null> {
      if (!(error instanceof ContractError)) return null
      if (error.code === 'OrderIdTaken') return addressSchema.parse(error.args.by)
      // Some nodes omit a revert's data.
      if (error.code !== 'unknown') return null
      const holder = await escrow.read('takenBy', [orderId.slice(0, PREFIX_CHARS)], addressSchema)
      return holder === ZERO_ADDRESS || sameAddress(holder, await wallet.account()) ? null : holder
    },
    /** Replaces the allowance of USDC. */
    allow: (amount: bigint) => usdc.send('approve', [contracts.escrow, amount]),
    /** Ends an unanswered order, from seven days after its deadline; returns its USDC. */
    reclaim: (orderId: Hex) => escrow.send('reclaim', [orderId]),
  }
}

export type Escrow = ReturnType<typeof createEscrow>
