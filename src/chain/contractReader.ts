import { type BlockTag, Interface, type InterfaceAbi, type Result } from 'ethers'
import type { z } from 'zod'
import { type Hex, hexToBytes } from '../protocol/hex.js'
import { ChainAnswerError, ChainUnavailableError } from './errors.js'

/** Runs views on a node, as any ethers provider does. */
export interface ViewCaller {
  /** @param request without `to`, `data` is the code of a contract that is only run, and never deployed */
  call(request: { readonly to?: Hex; readonly data: string; readonly blockTag: BlockTag }): Promise<string>
}

/** Calls views of one contract and parses what they return. */
export interface ContractReader {
  /**
   * @param schema of the single return value, or of an object of the named ones
   * @param block the block to read at; the latest by default
   * @throws ChainUnavailableError, ChainAnswerError
   */
  read<T>(method: string, args: readonly unknown[], schema: z.ZodType<T>, block?: BlockTag): Promise<T>
}

export function createContractReader(caller: ViewCaller, address: Hex, abi: InterfaceAbi): ContractReader {
  const contract = new Interface(abi)
  return {
    async read(method, args, schema, block = 'latest') {
      const data = contract.encodeFunctionData(method, args)
      try {
        const answer = await caller.call({ to: address, data, blockTag: block })
        if (answer === '0x') throw new ChainAnswerError(`no contract answers ${method} at ${address}`)
        // As bytes: ethers takes fifteen times as long to read hex.
        return schema.parse(returned(contract.decodeFunctionResult(method, hexToBytes(answer))))
      } catch (error) {
        throw failure(method, error)
      }
    },
  }
}

/** A view never reverts: if it is not an outage, the node refuses the call, or another contract answers. */
function failure(method: string, error: unknown): Error {
  if (error instanceof ChainUnavailableError || error instanceof ChainAnswerError) return error
  return new ChainAnswerError(`no usable answer to ${method}`, { cause: error })
}

function returned(result: Result): unknown {
  const first: unknown = result[0]
  return result.length === 1 ? plain(first) : result.toObject()
}

/** An ethers `Result` of an array type as a plain array. */
function plain(value: unknown): unknown {
  return Array.isArray(value) ? [...value] : value
}
