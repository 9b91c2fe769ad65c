import * as z from 'zod/mini'
import type { Hex } from '../protocol/hex.js'
import { bytes32ToName, nameToBytes32, sharesAddressOf, symbolSchema } from '../protocol/identifiers.js'
import type { Intent } from '../protocol/intent.js'
import { TOKEN_ABI } from './abis.js'
import { createContract } from './contract.js'
import { erc20Abi } from './erc20.js'
import { ClientError } from './errors.js'
import type { CallOptions } from './http.js'
import type { Wallet } from './wallet.js'

/** Which symbols to look for. */
export interface SharesOptions extends CallOptions {
  /** Further symbols to check, which the owner has delisted. */
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

const symbolsSchema = z.readonly(z.array(z.string()))

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
    if ((await wallet.reads.code(address)) === '0x') return { symbol, token: address, balance: 0n }
    const contract = createContract({ wallet, address, abi: erc20Abi })
    return { symbol, token: address, balance: await contract.read('balanceOf', [account], z.bigint()) }
  })
  return (await Promise.all(held)).filter(({ balance }) => balance > 0n)
}

/**
 * The enclave refuses such an order too, but only once its opening has been signed and paid for. A delisted symbol can be
 * sold and moved, not bought.
 * @param token the address of `EquityToken`
 * @throws ClientError `unlisted-symbol`, `invalid-order`
 */
export async function assertListed(
  wallet: Wallet,
  token: Hex,
  { side, symbol }: Pick<Intent, 'side' | 'symbol'>,
): Promise<void> {
  if (symbol === 'USDC') return
  if (!symbolSchema.safeParse(symbol).success) {
    throw new ClientError('invalid-order', 'The order is malformed: symbol.')
  }
  if (side === 'BUY') {
    const contract = createContract({ wallet, address: token, abi: TOKEN_ABI })
    if (await contract.read('isListed', [nameToBytes32(symbol)], z.boolean())) return
    throw new ClientError('unlisted-symbol', `${symbol} is not listed.`)
  }
  if ((await wallet.reads.code(sharesAddressOf(token, symbol))) !== '0x') return
  throw new ClientError('unlisted-symbol', `${symbol} was never listed.`)
}
