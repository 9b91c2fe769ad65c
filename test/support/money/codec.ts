import { AbiCoder, concat, type FunctionFragment } from 'ethers'
import { type ContractKey, INTERFACES } from '../chain.js'

const coder = AbiCoder.defaultAbiCoder()
const selectors = new Map<string, { selector: string; fragment: FunctionFragment }>()
const errors = new Map<string, string>()
for (const contract of Object.values(INTERFACES)) {
  contract.forEachError(({ selector, name }) => errors.set(selector, name))
}

/** Calldata. An ethers interface hashes a function's signature with each call; here it is hashed once. */
export function encodeCall(contract: ContractKey, method: string, args: unknown[]): string {
  const key = `${contract}.${method}`
  let known = selectors.get(key)
  if (!known) {
    const fragment = INTERFACES[contract].getFunction(method)
    if (!fragment) throw new Error(`there is no ${key}`)
    known = { fragment, selector: fragment.selector }
    selectors.set(key, known)
  }
  return concat([known.selector, coder.encode(known.fragment.inputs, args)])
}

/** The name of the error in revert data, by its selector. */
export function errorName(data: string): string {
  return errors.get(data.slice(0, 10)) ?? `unknown ${data.slice(0, 10)}`
}
