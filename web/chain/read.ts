import { Interface, type InterfaceAbi, type Provider } from 'ethers'
import type * as z from 'zod'
import type { Hex } from '../../src/client/index.js'
import { inTime } from './inTime.js'

interface View<T> {
  readonly address: Hex
  readonly abi: InterfaceAbi
  readonly method: string
  readonly args?: readonly unknown[]
  readonly schema: z.ZodType<T>
}

/** One view of a contract with a single result. */
export async function readView<T>(provider: Pick<Provider, 'call'>, view: View<T>): Promise<T> {
  const contract = new Interface(view.abi)
  const data = contract.encodeFunctionData(view.method, view.args ?? [])
  const answer = await inTime('call', provider.call({ to: view.address, data }))
  return view.schema.parse(contract.decodeFunctionResult(view.method, answer)[0])
}
