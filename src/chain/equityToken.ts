import type { BlockTag } from 'ethers'
import { z } from 'zod'
import type { Hex } from '../protocol/hex.js'
import { createContractReader, type ViewCaller } from './contractReader.js'
import { equityTokenAbi } from './generated/equityTokenAbi.js'
import { boolValue, bytes32Value, uintValue } from './values.js'

/** Views of `EquityToken`. A symbol is its `bytes32`; quantities are share base units (9 decimals). */
export interface EquityToken {
  readonly address: Hex
  isKyc(wallet: Hex, block?: BlockTag): Promise<boolean>
  isListed(symbol: Hex, block?: BlockTag): Promise<boolean>
  isFrozen(symbol: Hex, wallet: Hex, block?: BlockTag): Promise<boolean>
  listedSymbols(block?: BlockTag): Promise<Hex[]>
  /** Shares in existence, which the enclave keeps equal to what the broker holds and what was withdrawn. */
  totalSupply(symbol: Hex, block?: BlockTag): Promise<bigint>
  balanceOf(owner: Hex, symbol: Hex, block?: BlockTag): Promise<bigint>
}

export function createEquityToken(caller: ViewCaller, address: Hex): EquityToken {
  const { read } = createContractReader(caller, address, equityTokenAbi)
  return {
    address,
    isKyc: (wallet, block) => read('isKyc', [wallet], boolValue, block),
    isListed: (symbol, block) => read('isListed', [symbol], boolValue, block),
    isFrozen: (symbol, wallet, block) => read('isFrozen', [symbol, wallet], boolValue, block),
    listedSymbols: (block) => read('listedSymbols', [], z.array(bytes32Value), block),
    totalSupply: (symbol, block) => read('totalSupply(uint256)', [symbol], uintValue, block),
    balanceOf: (owner, symbol, block) => read('balanceOf', [owner, symbol], uintValue, block),
  }
}
