import * as z from 'zod/mini'
import type { Hex } from '../protocol/hex.js'
import { type ClientContract, createContract } from './contract.js'
import { erc20Abi } from './erc20.js'
import type { PlatformContracts } from './platform.js'
import type { Wallet } from './wallet.js'

/** The wallet's USDC, in base units. */
export interface Funds {
  readonly balance: bigint
  /** The amount that the escrow may take without another approval. */
  readonly allowance: bigint
}

/** What the account has of an ERC-20, and what of that its escrow may take. */
export async function fundsOf(asset: ClientContract, wallet: Wallet, escrow: Hex): Promise<Funds> {
  const account = await wallet.account()
  const [balance, allowance] = await Promise.all([
    asset.read('balanceOf', [account], z.bigint()),
    asset.read('allowance', [account, escrow], z.bigint()),
  ])
  return { balance, allowance }
}

/** The USDC that the wallet can spend on a BUY. */
export function readFunds(
  wallet: Wallet,
  { usdc, escrow }: Pick<PlatformContracts, 'usdc' | 'escrow'>,
): Promise<Funds> {
  return fundsOf(createContract({ wallet, address: usdc, abi: erc20Abi }), wallet, escrow)
}
