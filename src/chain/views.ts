import { type BlockTag, type Interface, isHexString, type Result } from 'ethers'
import * as z from 'zod/mini'
import { addressSchema } from '../protocol/address.js'
import { MAX_ENCODED_BYTES } from '../protocol/envelopeForm.js'
import { bytes32Schema, type Hex, hexBetween, hexToBytes } from '../protocol/hex.js'
import { ChainAnswerError, ChainUnavailableError } from './errors.js'
import { resultOf, toQuantity } from './jsonRpc.js'
import type { Rpc } from './rpc.js'

/** Runs views on a node. An ethers provider is one, too. */
export interface ViewCaller {
  /** @param request without `to`, `data` is the code of a contract that is only run, and never deployed */
  call(request: { readonly to?: Hex; readonly data: string; readonly blockTag: BlockTag }): Promise<string>
}

/** Calls views of one contract and parses what they return. */
export function createContractReader(caller: ViewCaller, address: Hex, contract: Interface) {
  return {
    /**
     * @param schema of the single return value, or of an object of the named ones
     * @throws ChainUnavailableError, ChainAnswerError
     */
    async read<T>(
      method: string,
      args: readonly unknown[],
      schema: z.core.$ZodType<T>,
      block: BlockTag = 'latest',
    ): Promise<T> {
      const data = contract.encodeFunctionData(method, args)
      try {
        const answer = await caller.call({ to: address, data, blockTag: block })
        if (answer === '0x') throw new ChainAnswerError(`no contract answers ${method} at ${address}`)
        // Decoded from bytes, because ethers reads hex fifteen times as slowly.
        return z.parse(schema, returned(contract.decodeFunctionResult(method, hexToBytes(answer))))
      } catch (error) {
        throw failure(method, error)
      }
    },
  }
}

/** Our views never revert: without an outage, the node refuses the call, or another contract answers. */
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

const BLOCK_HASH_BYTES = 32
const NO_CODE = '0x'
const codeSchema = z.string().check(z.startsWith(NO_CODE))

/**
 * Runs views on the chain's nodes. A block tag of 32 bytes is a block's hash (https://eips.ethereum.org/EIPS/eip-1898).
 *
 * @param requireCanonical refuse a block that is no longer part of the chain, which a node may still have
 */
export function createViewCaller(
  rpc: Pick<Rpc, 'send'>,
  { requireCanonical = false }: { requireCanonical?: boolean } = {},
): ViewCaller {
  return {
    async call({ blockTag, ...call }) {
      const [answer] = await rpc.send([
        { method: 'eth_call', params: [call, blockOf(blockTag, requireCanonical)] },
      ])
      return resultOf(answer, z.string())
    },
  }
}

function blockOf(tag: BlockTag, requireCanonical = false) {
  if (!isHexString(tag, BLOCK_HASH_BYTES)) return typeof tag === 'string' ? tag : toQuantity(tag)
  return requireCanonical ? { blockHash: tag, requireCanonical } : { blockHash: tag }
}

/** Whether there is a contract at an address. @throws ChainUnavailableError, ChainAnswerError */
export async function hasCode(
  rpc: Pick<Rpc, 'send'>,
  address: Hex,
  block: BlockTag = 'latest',
): Promise<boolean> {
  const [answer] = await rpc.send([{ method: 'eth_getCode', params: [address, blockOf(block)] }])
  return resultOf(answer, codeSchema) !== NO_CODE
}

// Schemas of decoded contract values.
/** The largest rulebook, with the header of its blob. */
const MAX_BLOB_BYTES = MAX_ENCODED_BYTES + 29

export const addressValue: z.ZodMiniType<Hex> = addressSchema
export const bytes32Value: z.ZodMiniType<Hex> = bytes32Schema
export const bytesValue: z.ZodMiniType<Hex> = hexBetween(0, MAX_BLOB_BYTES)
export const uintValue = z.bigint().check(z.minimum(0n))
export const boolValue = z.boolean()
/** An unsigned integer that is small by nature: a count, a time. */
export const numberValue = z.pipe(
  uintValue.check(z.maximum(BigInt(Number.MAX_SAFE_INTEGER))),
  z.transform(Number),
)
