// Calls that carry the code of a contract which is never deployed: what its constructor returns is the answer, all of one
// block and in one request. As the validator of https://eips.ethereum.org/EIPS/eip-6492 is run. See contracts/lens.
import { AbiCoder, type BlockTag, concat } from 'ethers'
import type { z } from 'zod'
import type { ViewCaller } from './contractReader.js'
import { ChainAnswerError, ChainUnavailableError } from './errors.js'

interface LensDefinition<T> {
  readonly bytecode: string
  /** ABI types of the constructor's arguments, and of what it returns. */
  readonly takes: readonly string[]
  readonly returns: readonly string[]
  /** Of the returned values, as an array. */
  readonly schema: z.ZodType<T>
}

/** Runs a lens at a block. @throws ChainUnavailableError, ChainAnswerError */
export type Lens<T> = (values: readonly unknown[], block: BlockTag) => Promise<T>

export function createLens<T>(caller: ViewCaller, definition: LensDefinition<T>): Lens<T> {
  const { bytecode, takes, returns, schema } = definition
  const coder = AbiCoder.defaultAbiCoder()
  return async (values, block) => {
    const data = concat([bytecode, coder.encode(takes, values)])
    try {
      return schema.parse([...coder.decode(returns, await caller.call({ data, blockTag: block }))])
    } catch (error) {
      if (error instanceof ChainUnavailableError || error instanceof ChainAnswerError) throw error
      throw new ChainAnswerError('no usable answer to a lens', { cause: error })
    }
  }
}
