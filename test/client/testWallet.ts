// A browser's wallet over EIP-1193, in front of the local chain, that does what its person confirms.
import { concat, toQuantity, toUtf8String } from 'ethers'
import * as z from 'zod'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import type { Eip1193Provider } from '../../src/client/index.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import type { TestChain } from '../support/chain.js'
import { walletOf } from './clientSetting.js'

export interface TestWalletOptions {
  /** Its account is a contract that belongs to bob, or a key's. */
  readonly isContract?: boolean
  /** What it says of batches; it sends each as one transaction after another. */
  readonly atomic?: 'supported' | 'ready'
  /** Its batches revert. */
  readonly reverts?: boolean
  /** Gets the method of each request that the person sees. */
  readonly asked?: string[]
  /** Shows a request to the person. */
  readonly prompt?: <T>(method: string, act: () => Promise<T>) => Promise<T>
}

const typedSchema = z.object({
  domain: z.record(z.string(), z.unknown()),
  types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  message: z.record(z.string(), z.unknown()),
})
const transactionSchema = z.object({ to: z.string(), data: z.string(), gas: z.string().optional() })
const batchSchema = z.object({ atomicRequired: z.literal(true), calls: z.array(transactionSchema) })

/** Alice's wallet. */
export function createTestWallet(chain: TestChain, options: TestWalletOptions = {}): Eip1193Provider {
  const { isContract = false, atomic, reverts = false } = options
  const account = walletOf(chain, 'alice')
  const signer = isContract ? walletOf(chain, 'bob') : account
  const signatureOf = (once: string) => (isContract ? concat([once, once]) : once)
  function prompt<T>(method: string, act: () => Promise<T>): Promise<T> {
    options.asked?.push(method)
    return options.prompt === undefined ? act() : options.prompt(method, act)
  }

  async function send(call: unknown): Promise<string> {
    const { to, data, gas } = transactionSchema.parse(call)
    return (await account.sendTransaction({ to, data, ...(gas && { gasLimit: gas }) })).hash
  }
  async function sendCalls(batch: unknown) {
    let id: string = ZERO_BYTES32
    if (reverts) return { id }
    for (const call of batchSchema.parse(batch).calls) {
      id = await send(call)
      await waitForReceipt(chain.provider, id)
    }
    return { id }
  }
  async function callsStatus(id: unknown) {
    const receipt = await chain.provider.getTransactionReceipt(z.string().parse(id))
    if (receipt === null) return { status: 500 }
    const blockNumber = toQuantity(receipt.blockNumber)
    return { status: 200, receipts: [{ transactionHash: id, blockNumber }] }
  }

  return {
    async request({ method, params = [] }) {
      const [first, second] = z.array(z.unknown()).parse(params)
      switch (method) {
        case 'eth_requestAccounts':
        case 'eth_accounts':
          return [account.address]
        case 'personal_sign':
          return prompt(method, async () =>
            signatureOf(await signer.signMessage(toUtf8String(String(first)))),
          )
        case 'eth_signTypedData_v4': {
          const { domain, types, message } = typedSchema.parse(JSON.parse(String(second)))
          const { EIP712Domain: _, ...own } = types
          return prompt(method, async () => signatureOf(await signer.signTypedData(domain, own, message)))
        }
        case 'eth_sendTransaction':
          return prompt(method, () => send(first))
        case 'wallet_getCapabilities':
          return atomic ? { [toQuantity(chain.anvil.chainId)]: { atomic: { status: atomic } } } : {}
        case 'wallet_sendCalls':
          return prompt(method, () => sendCalls(first))
        case 'wallet_getCallsStatus':
          return callsStatus(first)
        default:
          return chain.provider.send(method, z.array(z.unknown()).parse(params))
      }
    },
  }
}
