import { setTimeout as sleep } from 'node:timers/promises'
import { keccak256, Wallet } from 'ethers'
import { z } from 'zod'
import type { TestChain } from '../../support/chain.js'
import { ROLES } from '../../support/roles.js'
import { createFaultQueue } from './faultQueue.js'
import type { ChainFault } from './kinds.js'
import type { Miner } from './miner.js'
import type { Plan, PlannedFault } from './plan.js'
import { LIFE_LIMIT_MS } from './settings.js'

/** Does to the chain what the plan says. */
export interface ChainFaults {
  /** From now on {@link reset} leads back to here. */
  begin(): Promise<void>
  /** All is as it was at the beginning. */
  reset(): Promise<void>
  /**
   * The key is used elsewhere, and that block is taken back when the server, which knows of nothing else, has sent what
   * it is given now: the nonce below that is open.
   */
  openNonce(give: () => void): Promise<void>
  /** To be told of every transaction that passes: that is what faults are timed by. */
  afterSend(): Promise<void>
  struck(): Record<string, number>
  /** Whether everything that was planned has struck. */
  isCalm(): boolean
  calm(): void
}

const LOOK_MS = 20
const GWEI = 1_000_000_000n
/** Above everything that the relay offers, so that it takes the nonce. */
const OUTSIDE_PRICE = 1_000n * GWEI
const poolSchema = z.object({
  pending: z.record(z.string(), z.record(z.string(), z.looseObject({ hash: z.string() }))),
})

export function createChainFaults(chain: TestChain, miner: Miner, plan: Pick<Plan, 'chain'>): ChainFaults {
  const queue = createFaultQueue('chain', plan.chain)
  const { provider } = chain
  const key = createOutsideKey(chain)
  const actions = createActions(chain, key)
  let beginning: unknown

  async function remember(): Promise<void> {
    beginning = await provider.send('evm_snapshot', [])
  }

  return {
    begin: () => miner.between(remember),
    reset: () =>
      miner.between(async () => {
        await provider.send('evm_revert', [beginning])
        await provider.send('anvil_dropAllTransactions', [])
        // A snapshot serves once.
        await remember()
      }),
    openNonce: (give) =>
      miner.between(async () => {
        const hash = await key.use('pending')
        await provider.send('evm_mine', [])
        const used = await key.count('latest')
        give()
        const giveUpAt = performance.now() + LIFE_LIMIT_MS
        while ((await key.count('pending')) === used && performance.now() < giveUpAt) await sleep(LOOK_MS)
        await provider.send('anvil_reorg', [1, []])
        // The node takes everything that was in the block back into its pool.
        await provider.send('anvil_dropTransaction', [hash])
      }),
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

/** The relayer's key, in other hands. */
function createOutsideKey(chain: TestChain) {
  const { provider } = chain
  const relayer = chain.account('relayer')
  const key = new Wallet(chain.anvil.accounts[ROLES.indexOf('relayer')]?.privateKey ?? '')

  const count = (tag: 'latest' | 'pending') => provider.getTransactionCount(relayer, tag)

  /** The transaction's hash, undefined when there was no occasion. */
  async function use(tag: 'latest' | 'pending'): Promise<string | undefined> {
    const [nonce, ahead] = await Promise.all([count(tag), count('pending')])
    if (tag === 'latest' && nonce === ahead) return undefined
    const { chainId } = chain.anvil
    const raw = await key.signTransaction({
      to: chain.account('dave'),
      value: 1n,
      type: 0,
      chainId,
      nonce,
      gasLimit: 21_000n,
      gasPrice: OUTSIDE_PRICE,
    })
    const isTaken = await accepted(provider.send('eth_sendRawTransaction', [raw]))
    return isTaken ? keccak256(raw) : undefined
  }
  return { use, count }
}

function createActions(
  chain: TestChain,
  key: ReturnType<typeof createOutsideKey>,
): Record<ChainFault, Action> {
  const { provider } = chain
  const relayer = chain.account('relayer')
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
    'outside-next': async () => (await key.use('pending')) !== undefined,
    'outside-replaces': async () => (await key.use('latest')) !== undefined,
  }
}

async function accepted(answer: Promise<unknown>): Promise<boolean> {
  return answer.then(
    () => true,
    () => false,
  )
}
