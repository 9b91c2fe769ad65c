import { type BlockTag, Interface, type InterfaceAbi, isCallException, isError } from 'ethers'
import type * as z from 'zod'
import type { Hex } from '../protocol/hex.js'
import { ClientError, ContractError } from './errors.js'
import { toTradingError } from './foreignErrors.js'
import { abortable } from './retry.js'
import type { Wallet } from './wallet.js'

/** A transaction that was mined and succeeded. */
export interface Mined {
  readonly txHash: Hex
  readonly blockNumber: number
}

/** One contract: parses its views, and sends its calls through the wallet. */
export interface ClientContract {
  /** @throws ClientError `untrusted-escrow` if no contract at the address answers, `unexpected-answer`; ContractError */
  read<T>(method: string, args: readonly unknown[], schema: z.ZodType<T>, block?: BlockTag): Promise<T>
  /**
   * Sends a call and waits until it is mined.
   * @throws ContractError if the contract refuses the call: before sending, or after mining if another transaction came
   *   first
   * @throws ClientError `insufficient-funds`, `transaction-refused`, `transaction-pending`, `transaction-replaced`
   */
  send(method: string, args: readonly unknown[]): Promise<Mined>
  /** The call, for a batch. */
  call(method: string, args: readonly unknown[]): { readonly to: Hex; readonly data: string }
}

/** Headroom in the gas limit for state that changes between estimate and block. */
const GAS_MARGIN_PERCENT = 130n

interface ContractDeps {
  readonly wallet: Wallet
  readonly address: Hex
  readonly abi: InterfaceAbi
}

export function createContract({ wallet, address, abi }: ContractDeps): ClientContract {
  const contract = new Interface(abi)
  const { reads } = wallet
  const callOf = (method: string, args: readonly unknown[]) => ({
    to: address,
    data: contract.encodeFunctionData(method, args),
  })
  return {
    call: callOf,
    async read(method, args, schema, blockTag = 'latest') {
      const answer = await reads
        .call({ ...callOf(method, args), blockTag })
        .catch((error: unknown) => refusalOf(contract, method, error))
      return parseResult(contract, method, schema, answer, address)
    },
    async send(method, args) {
      const call = { from: await wallet.account(), ...callOf(method, args) }
      const refusal = (error: unknown) => refusalOf(contract, method, error)
      const gas = await reads.estimateGas(call).catch(refusal)
      const gasLimit = (gas * GAS_MARGIN_PERCENT) / 100n
      const sent = await wallet.sendTransaction({ ...call, gasLimit }).catch(refusal)
      const mined = await abortable(sent.wait(1, wallet.miningTimeoutMs), wallet.signal).catch((error) => {
        wallet.signal?.throwIfAborted()
        return whyNotMined(error, sent.hash)
      })
      if (mined?.status === 1) return { txHash: `0x${mined.hash.slice(2)}`, blockNumber: mined.blockNumber }
      throw await reasonOf(reads, contract, method, { ...call, blockTag: mined?.blockNumber ?? 'latest' })
    },
  }
}

function parseResult<T>(
  contract: Interface,
  method: string,
  schema: z.ZodType<T>,
  answer: string,
  address: Hex,
): T {
  if (answer === '0x')
    throw new ClientError('untrusted-escrow', `No contract at ${address} answers ${method}.`)
  const parsed = schema.safeParse(decoded(contract, method, answer))
  if (parsed.success) return parsed.data
  throw new ClientError('unexpected-answer', `${method} of ${address} returned an unexpected value`, {
    cause: parsed.error,
  })
}

/** The only result, or all by name; undefined for an answer that is not the method's. */
function decoded(contract: Interface, method: string, answer: string): unknown {
  try {
    const result = contract.decodeFunctionResult(method, answer)
    return result.length === 1 ? result[0] : result.toObject()
  } catch {
    return undefined
  }
}

/** Maps a call that the contract refused. The wallet has mapped the other errors. */
function refusalOf(contract: Interface, method: string, error: unknown): never {
  throw error instanceof Error && isCallException(error)
    ? contractError(contract, method, error.data ?? '0x')
    : error
}

/** The receipt of the replacement transaction, or of this one if it reverted; otherwise throws. */
function whyNotMined(error: unknown, hash: string) {
  if (isError(error, 'TRANSACTION_REPLACED') && !error.cancelled) return error.receipt
  if (isError(error, 'CALL_EXCEPTION') && error.receipt) return error.receipt
  if (isError(error, 'TRANSACTION_REPLACED')) {
    throw new ClientError('transaction-replaced', `Another transaction replaced ${hash}.`)
  }
  if (isError(error, 'TIMEOUT')) throw new ClientError('transaction-pending', `${hash} is not mined yet.`)
  throw toTradingError(error)
}

/** A receipt does not say why a transaction reverted; the same call on its block does. */
async function reasonOf(
  reads: Wallet['reads'],
  contract: Interface,
  method: string,
  call: { from: Hex; to: Hex; data: string; blockTag: BlockTag },
): Promise<ContractError> {
  try {
    await reads.call(call)
  } catch (error) {
    if (error instanceof Error && isCallException(error)) {
      return contractError(contract, method, error.data ?? '0x')
    }
    throw error
  }
  return new ContractError(method, 'unknown', {})
}

function contractError(contract: Interface, method: string, data: string): ContractError {
  const error = data === '0x' ? null : contract.parseError(data)
  if (!error) return new ContractError(method, 'unknown', data === '0x' ? {} : { data })
  const names = error.fragment.inputs.map((input, index) => input.name || String(index))
  return new ContractError(
    method,
    error.name,
    Object.fromEntries(names.map((name, index) => [name, String(error.args[index])])),
  )
}
