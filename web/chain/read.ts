import { Interface, type InterfaceAbi } from 'ethers'
import * as z from 'zod'
import type { Eip1193Provider, Hex } from '../../src/client/index.js'
import { inTime } from './inTime.js'

interface View<T> {
  readonly address: Hex
  readonly abi: InterfaceAbi
  readonly method: string
  readonly args?: readonly unknown[]
  readonly schema: z.ZodType<T>
}

/** One view of a contract with a single result. */
export async function readView<T>(provider: Eip1193Provider, view: View<T>): Promise<T> {
  const contract = new Interface(view.abi)
  const data = contract.encodeFunctionData(view.method, view.args ?? [])
  const params = [{ to: view.address, data }, 'latest']
  const answer = z.string().parse(await inTime(provider.request({ method: 'eth_call', params })))
  return view.schema.parse(contract.decodeFunctionResult(view.method, answer)[0])
}

const blockSchema = z.object({ timestamp: z.coerce.number().int() })

/** Unix seconds of a block, by its hash. */
export async function timeOf(provider: Eip1193Provider, blockHash: Hex): Promise<number> {
  const answer = await inTime(provider.request({ method: 'eth_getBlockByHash', params: [blockHash, false] }))
  return blockSchema.parse(answer).timestamp
}

/** The topic of an event. */
export function topicOf(abi: InterfaceAbi, event: string): string {
  const fragment = new Interface(abi).getEvent(event)
  if (fragment === null) throw new Error(`there is no event ${event}`)
  return fragment.topicHash
}
