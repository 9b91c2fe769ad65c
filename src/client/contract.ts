import type * as z from 'zod/mini'
import { type Abi, createAbi } from '../chain/abi.js'
import type { Hex } from '../protocol/hex.js'
import type { BlockTag } from './chainReads.js'
import { ClientError, ContractError } from './errors.js'
import { CallReverted } from './foreignErrors.js'
import type { Wallet } from './wallet.js'

/** A transaction that was mined and succeeded. */
export interface Mined {
  readonly txHash: Hex
  readonly blockNumber: number
}

export type ClientContract = ReturnType<typeof createContract>

/** Each line is parsed once: one order reads some ten views. */
const abis = new WeakMap<readonly string[], Abi>()

/** One contract: parses its views, and sends its calls through the wallet. */
export function createContract(deps: {
  readonly wallet: Wallet
  readonly address: Hex
  /** Lines in the words of Solidity. */
  readonly abi: readonly string[]
}) {
  const { wallet, address, abi: lines } = deps
  const abi = abis.get(lines) ?? createAbi(lines)
  abis.set(lines, abi)
  const { reads } = wallet
  const callOf = (method: string, args: readonly unknown[]) => ({
    to: address,
    data: abi.encodeCall(method, args),
  })
  return {
    /** The call, for a batch. */
    call: callOf,
    /** @throws ClientError `untrusted-escrow` if no contract at the address answers, `unexpected-answer`; ContractError */
    async read<T>(
      method: string,
      args: readonly unknown[],
      schema: z.ZodMiniType<T>,
      block?: BlockTag,
    ): Promise<T> {
      const answer = await reads
        .call(callOf(method, args), block)
        .catch((error: unknown) => refusalOf(abi, method, error))
      return parseResult(abi, method, schema, answer, address)
    },
    /**
     * Sends a call and waits until it is mined.
     * @throws ContractError if the contract refuses the call: before sending, or after mining if another transaction came
     *   first
     * @throws ClientError `wrong-chain`, `insufficient-funds`, `transaction-refused`, `transaction-pending`, `transaction-replaced`
     */
    async send(method: string, args: readonly unknown[]): Promise<Mined> {
      const call = { from: await wallet.account(), ...callOf(method, args) }
      const refusal = (error: unknown) => refusalOf(abi, method, error)
      const { transactionHash: txHash, blockNumber, status } = await wallet.send(call).catch(refusal)
      if (status === 1) return { txHash, blockNumber }
      // A receipt does not say why a transaction reverted; the same call on its block does.
      const reason: unknown = await reads.call(call, blockNumber).catch((error: unknown) => error)
      const named = contractError(abi, method, reason instanceof CallReverted ? reason.data : '0x')
      throw new ContractError(method, named.code, named.args, true)
    },
  }
}

function parseResult<T>(abi: Abi, method: string, schema: z.ZodMiniType<T>, answer: string, address: Hex): T {
  if (answer === '0x') {
    const message = `No contract at ${address} answers ${method} on the wallet's chain.`
    throw new ClientError('untrusted-escrow', message)
  }
  const parsed = schema.safeParse(decoded(abi, method, answer))
  if (parsed.success) return parsed.data
  throw new ClientError('unexpected-answer', `${method} of ${address} returned an unexpected value`, {
    cause: parsed.error,
  })
}

/** The only result, or all by name; undefined for an answer that is not the method's. */
function decoded(abi: Abi, method: string, answer: string): unknown {
  try {
    const result = abi.decodeAnswer(method, answer)
    return result.length === 1 ? result[0] : result.toObject()
  } catch {
    return undefined
  }
}

/** Maps a call that the contract refused. The wallet has mapped the other errors. */
function refusalOf(abi: Abi, method: string, error: unknown): never {
  throw error instanceof CallReverted ? contractError(abi, method, error.data) : error
}

function contractError(abi: Abi, method: string, data: string): ContractError {
  const error = data === '0x' ? null : abi.parseError(data)
  if (!error) return new ContractError(method, 'unknown', data === '0x' ? {} : { data })
  const args = Object.entries(error.args).map(([name, value]) => [name, String(value)])
  return new ContractError(method, error.name, Object.fromEntries(args))
}
