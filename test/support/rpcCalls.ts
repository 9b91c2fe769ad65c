// The information that a node gets from the calls that reach it.
import { Interface, isHexString } from 'ethers'
import { z } from 'zod'
import { orderEscrowAbi } from '../../src/chain/generated/orderEscrowAbi.js'

/** One call as a node receives it. */
export interface SeenCall {
  readonly method: string
  readonly params: unknown[]
}

const callParams = z.tuple([z.object({ to: z.string(), data: z.string() })], z.unknown())
const escrow = new Interface(orderEscrowAbi)
/** Their argument is an order's own, or an authorization's: every order has others, and there is no more to be read in them. */
const OWN_ARGUMENT = new Set(['orders', 'usedDigest'].map((view) => escrow.getFunction(view)?.selector))

/** The different calls among these, without blocks and without what every order has of its own, in one order. */
export function kindsOfCalls(calls: readonly SeenCall[]): string[] {
  return [...new Set(calls.map(kindOf))].sort()
}

function kindOf({ method, params }: SeenCall): string {
  if (method !== 'eth_call')
    return `${method} ${JSON.stringify(params.filter((param) => !isHexString(param)))}`
  const [{ to, data }] = callParams.parse(params)
  const selector = data.slice(0, 10)
  return `${to} ${OWN_ARGUMENT.has(selector) ? selector : data}`
}
