// Names a block by its hash as EIP-1898 has it: https://eips.ethereum.org/EIPS/eip-1898
import { type BlockTag, isHexString } from 'ethers'
import { z } from 'zod'
import type { ViewCaller } from './contractReader.js'
import { toQuantity } from './quantity.js'
import { resultOf } from './rpcResult.js'
import type { RpcTransport } from './rpcTransport.js'

const BLOCK_HASH_BYTES = 32

/** Runs views straight on the transport. A block tag of 32 bytes is a block's hash. */
export function createViewCaller(transport: Pick<RpcTransport, 'send'>): ViewCaller {
  return {
    async call({ blockTag, ...call }) {
      const [answer] = await transport.send([{ method: 'eth_call', params: [call, blockOf(blockTag)] }])
      return resultOf(answer, z.string())
    },
  }
}

function blockOf(tag: BlockTag): string | { blockHash: string } {
  if (isHexString(tag, BLOCK_HASH_BYTES)) return { blockHash: tag }
  return typeof tag === 'string' ? tag : toQuantity(tag)
}
