import type { BlockTag } from 'ethers'
import type { Hex } from '../protocol/hex.js'
import { createContractReader, type ViewCaller } from './contractReader.js'
import { platformPoolAbi } from './generated/platformPoolAbi.js'
import { boolValue, uintValue } from './values.js'

/** Views of `PlatformPool`. */
export interface PlatformPool {
  readonly address: Hex
  /** Number that the symbol's next mint or burn must carry. */
  nextBatch(symbol: Hex, block?: BlockTag): Promise<bigint>
  /** Unix seconds: the symbol's fills until then are in its batches. */
  countedUntil(symbol: Hex, block?: BlockTag): Promise<bigint>
  usedDigest(digest: Hex, block?: BlockTag): Promise<boolean>
}

export function createPlatformPool(caller: ViewCaller, address: Hex): PlatformPool {
  const { read } = createContractReader(caller, address, platformPoolAbi)
  return {
    address,
    nextBatch: (symbol, block) => read('nextBatch', [symbol], uintValue, block),
    countedUntil: (symbol, block) => read('countedUntil', [symbol], uintValue, block),
    usedDigest: (digest, block) => read('usedDigest', [digest], boolValue, block),
  }
}
