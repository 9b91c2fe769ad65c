import * as z from 'zod'
import type { Hex } from '../protocol/hex.js'
import { bytes32ToName, sharesAddressOf } from '../protocol/identifiers.js'
import { createContract } from './contract.js'
import { erc20Abi } from './erc20.js'
import type { CallOptions } from './http.js'
import type { Wallet } from './wallet.js'

/** Which symbols to look for. */
export interface SharesOptions extends CallOptions {
  /** Further symbols to check, which are no longer listed. */
  readonly others?: readonly string[] | undefined
}

/** Shares of one equity in the wallet. */
export interface WalletShares {
  readonly symbol: string
  /** The equity's ERC-20. */
  readonly token: Hex
  /** Share base units (9 decimals). */
  readonly balance: bigint
}

const TOKEN_ABI = ['function listedSymbols() view returns (bytes32[])']
const symbolsSchema = z.array(z.string()).readonly()

/** The listed symbols and the others, each once. @param token the address of `EquityToken` */
export async function symbolsOf(
  wallet: Wallet,
  token: Hex,
  others: readonly string[] = [],
): Promise<readonly string[]> {
  const contract = createContract({ wallet, address: token, abi: TOKEN_ABI })
  const listed = await contract.read('listedSymbols', [], symbolsSchema)
  const names = listed.map((symbol) => bytes32ToName(`0x${symbol.slice(2)}`))
  return [...new Set([...names.filter((name) => name !== null), ...others])]
}

/** Balances above zero of the wallet's account. @param token the address of `EquityToken` */
export async function readShares(
  wallet: Wallet,
  token: Hex,
  { others }: SharesOptions = {},
): Promise<readonly WalletShares[]> {
  const account = await wallet.account()
  const held = (await symbolsOf(wallet, token, others)).map(async (symbol) => {
    const address = sharesAddressOf(token, symbol)
    // A symbol that was never listed or minted has no contract yet.
    if ((await wallet.reads.getCode(address)) === '0x') return { symbol, token: address, balance: 0n }
    const contract = createContract({ wallet, address, abi: erc20Abi })
    return { symbol, token: address, balance: await contract.read('balanceOf', [account], z.bigint()) }
  })
  return (await Promise.all(held)).filter(({ balance }) => balance > 0n)
}
