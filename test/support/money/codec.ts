import { AbiCoder, concat, type FunctionFragment, Interface } from 'ethers'
import { type ContractKey, INTERFACES } from '../chain.js'

/** The switches of the USDC that the tests of the money use (BlacklistingUsdc). */
const SWITCHES = new Interface(['function setBlacklisted(address account, bool blacklisted)'])

const coder = AbiCoder.defaultAbiCoder()
const selectors = new Map<string, { selector: string; fragment: FunctionFragment }>()
/** Solidity's own, with which USDC refuses an account that it has blacklisted. */
const errors = new Map<string, string>([['0x08c379a0', 'Error']])
for (const contract of Object.values(INTERFACES)) {
  contract.forEachError(({ selector, name }) => errors.set(selector, name))
}

/** Calldata. An ethers interface hashes a function's signature with each call; here it is hashed once. */
export function encodeCall(contract: ContractKey, method: string, args: unknown[]): string {
  const key = `${contract}.${method}`
  let known = selectors.get(key)
  if (!known) {
    const fragment = INTERFACES[contract].getFunction(method) ?? SWITCHES.getFunction(method)
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
