import { Wallet } from 'ethers'
import { z } from 'zod'
import type { TestChain } from '../../support/chain.js'
import { ROLES } from '../../support/roles.js'
import { createFaultQueue } from './faultQueue.js'
import type { ChainFault } from './kinds.js'
import type { Miner } from './miner.js'
import type { Plan, PlannedFault } from './plan.js'

/** Does to the chain what the plan says. */
export interface ChainFaults {
  /** To be told of every transaction that passes: that is what faults are timed by. */
  afterSend(): Promise<void>
  struck(): Record<string, number>
  /** Whether everything that was planned has struck. */
  isCalm(): boolean
  calm(): void
}

const GWEI = 1_000_000_000n
/** Above everything that the relay offers, so that it takes the nonce. */
const OUTSIDE_FEES = { maxFeePerGas: 1_000n * GWEI, maxPriorityFeePerGas: 50n * GWEI }
const poolSchema = z.object({
  pending: z.record(z.string(), z.record(z.string(), z.looseObject({ hash: z.string() }))),
})

export function createChainFaults(chain: TestChain, miner: Miner, plan: Pick<Plan, 'chain'>): ChainFaults {
  const queue = createFaultQueue('chain', plan.chain)
  const actions = createActions(chain)
  return {
    async afterSend() {
      const fault = queue.next()
      if (fault === undefined) return
      if (!(await miner.between(() => actions[fault.kind](fault)))) queue.giveBack(fault)
    },
    struck: queue.struck,
    isCalm: queue.isEmpty,
    calm: queue.end,
  }
}

/** Each resolves with whether there was anything to be done. */
type Action = (fault: PlannedFault<ChainFault>) => Promise<boolean>

function createActions(chain: TestChain): Record<ChainFault, Action> {
  const { provider } = chain
  const relayer = chain.account('relayer')
  const key = new Wallet(chain.anvil.accounts[ROLES.indexOf('relayer')]?.privateKey ?? '')

  async function useKey(tag: 'latest' | 'pending'): Promise<boolean> {
    const [nonce, ahead] = await Promise.all([
      provider.getTransactionCount(relayer, tag),
      provider.getTransactionCount(relayer, 'pending'),
    ])
    if (tag === 'latest' && nonce === ahead) return false
    const { chainId } = chain.anvil
    const raw = await key.signTransaction({
      to: chain.account('dave'),
      value: 1n,
      type: 2,
      chainId,
      nonce,
      gasLimit: 21_000n,
      ...OUTSIDE_FEES,
    })
    return accepted(provider.send('eth_sendRawTransaction', [raw]))
  }

  return {
    async reorg({ amount }) {
      return accepted(provider.send('anvil_reorg', [amount, []]))
    },
    async dropped({ amount }) {
      const { pending } = poolSchema.parse(await provider.send('txpool_content', []))
      const own = Object.entries(pending).find(([account]) => account.toLowerCase() === relayer.toLowerCase())
      const hashes = Object.values(own?.[1] ?? {}).map(({ hash }) => hash)
      const hash = hashes[amount % hashes.length]
      return hash !== undefined && accepted(provider.send('anvil_dropTransaction', [hash]))
    },
    async 'base-fee'({ amount }) {
      const fee = `0x${(BigInt(amount) * GWEI).toString(16)}`
      return accepted(provider.send('anvil_setNextBlockBaseFeePerGas', [fee]))
    },
    'outside-next': () => useKey('pending'),
    'outside-replaces': () => useKey('latest'),
  }
}

async function accepted(answer: Promise<unknown>): Promise<boolean> {
  return answer.then(
    () => true,
    () => false,
  )
}
