import { type BlockTag, Interface, type InterfaceAbi, isCallException, isError, type Provider } from 'ethers'
import type * as z from 'zod'
import type { Hex } from '../protocol/hex.js'
import { ClientError, ContractError } from './errors.js'
import type { Wallet } from './wallet.js'

/** A transaction that was mined and succeeded. */
export interface Mined {
  readonly txHash: Hex
  readonly blockNumber: number
}

/** One contract: parses its views, and sends its calls through the wallet. */
export interface ClientContract {
  /** @throws ClientError `untrusted-escrow` if no contract at the address answers, `unexpected-answer` */
  read<T>(method: string, args: readonly unknown[], schema: z.ZodType<T>, block?: BlockTag): Promise<T>
  /**
   * Sends a call and waits until it is mined.
   * @throws ContractError if the contract refuses the call: before sending, or after mining if another transaction came
   *   first
   * @throws ClientError `transaction-refused`, `transaction-pending`, `transaction-replaced`
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
  const { provider, signer } = wallet
  const callOf = (method: string, args: readonly unknown[]) => ({
    to: address,
    data: contract.encodeFunctionData(method, args),
  })
  return {
    call: callOf,
    async read(method, args, schema, blockTag = 'latest') {
      const answer = await provider.call({ ...callOf(method, args), blockTag })
      return parseResult(contract, method, schema, answer, address)
    },
    async send(method, args) {
      const call = { from: await wallet.account(), ...callOf(method, args) }
      const refusal = (error: unknown) => refusalOf(contract, method, error)
      const gas = await provider.estimateGas(call).catch(refusal)
      const gasLimit = (gas * GAS_MARGIN_PERCENT) / 100n
      const sent = await signer.sendTransaction({ ...call, gasLimit }).catch(refusal)
      const mined = await sent.wait(1, wallet.miningTimeoutMs).catch((error) => whyNotMined(error, sent.hash))
      if (mined?.status === 1) return { txHash: `0x${mined.hash.slice(2)}`, blockNumber: mined.blockNumber }
      throw await reasonOf(provider, contract, method, { ...call, blockTag: mined?.blockNumber ?? 'latest' })
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
  const result = contract.decodeFunctionResult(method, answer)
  const parsed = schema.safeParse(result.length === 1 ? result[0] : result.toObject())
  if (parsed.success) return parsed.data
  throw new ClientError('unexpected-answer', `${method} of ${address} returned an unexpected value`, {
    cause: parsed.error,
  })
}

/** Maps a failed estimate or send to our errors; rethrows ethers' other errors, such as missing funds or connection. */
function refusalOf(contract: Interface, method: string, error: unknown): never {
  if (isError(error, 'ACTION_REJECTED')) {
    throw new ClientError('transaction-refused', 'The transaction was rejected in the wallet.', {
      cause: error,
    })
  }
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
  throw error
}

/** A receipt does not say why a transaction reverted; the same call on its block does. */
async function reasonOf(
  provider: Provider,
  contract: Interface,
  method: string,
  call: { from: Hex; to: Hex; data: string; blockTag: BlockTag },
): Promise<ContractError> {
  try {
    await provider.call(call)
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
