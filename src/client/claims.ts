import * as z from 'zod/mini'
import { addressSchema, ZERO_ADDRESS } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { nameToBytes32 } from '../protocol/identifiers.js'
import { createContract } from './contract.js'
import { ESCROW_ABI } from './escrowAbi.js'
import type { CallOptions } from './http.js'
import type { PlatformContracts } from './platform.js'
import { symbolsOf } from './shares.js'
import type { Wallet } from './wallet.js'

/** Which claims to look for. */
export interface ClaimsOptions extends CallOptions {
  /** Further symbols to check, which the owner has delisted. */
  readonly others?: readonly string[] | undefined
}

export interface ClaimOptions extends CallOptions {
  /** The wallet itself by default, or the recipient that the platform's owner approved. */
  readonly to?: Hex | undefined
}

/** A payment that the wallet could not receive, in base units of USDC or of an equity, named by its symbol. */
export interface Claim {
  readonly asset: string
  readonly amount: bigint
  /** The other address that the platform's owner allows as a payee; null for none. */
  readonly recipient: Hex | null
}

const USDC = 'USDC'

/**
 * The payments that wait at the escrow because the wallet could not receive them. Methods throw as `ClientContract`
 * does.
 */
export function createClaimDesk(deps: {
  readonly wallet: Wallet
  readonly contracts: Pick<PlatformContracts, 'escrow' | 'token'>
}) {
  const { wallet, contracts } = deps
  const escrow = createContract({ wallet, address: contracts.escrow, abi: ESCROW_ABI })

  async function assets(others: readonly string[]): Promise<string[]> {
    return [...new Set([USDC, ...(await symbolsOf(wallet, contracts.token, others))])]
  }

  return {
    /** Claims above zero. */
    async claims({ others = [] }: ClaimsOptions = {}): Promise<readonly Claim[]> {
      const account = await wallet.account()
      const claims = await Promise.all(
        (await assets(others)).map(async (asset) => {
          const of = [account, nameToBytes32(asset)]
          const [amount, to] = await Promise.all([
            escrow.read('claims', of, z.bigint()),
            escrow.read<Hex>('claimRecipientOf', of, addressSchema),
          ])
          return { asset, amount, recipient: to === ZERO_ADDRESS ? null : to }
        }),
      )
      return claims.filter(({ amount }) => amount > 0n)
    },
    /** Withdraws a claim to the wallet, or to the recipient that the platform's owner allowed. */
    claim: async (asset: string, { to }: ClaimOptions = {}) =>
      escrow.send('claim', [nameToBytes32(asset), to ?? (await wallet.account())]),
  }
}
