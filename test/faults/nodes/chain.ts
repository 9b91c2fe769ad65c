import { setTimeout as sleep } from 'node:timers/promises'
import { type JsonRpcApiProvider, keccak256, Wallet } from 'ethers'
import { z } from 'zod'
import { sameAddress } from '../../../src/protocol/address.js'
import { LIFE_LIMIT_MS } from '../engine/lives.js'
import { createFaultQueue } from './faultQueue.js'
import type { ChainFault, NodeFaults, PlannedFault } from './plan.js'

export const BLOCK_SECONDS = 0.2

/** Mines by the clock, and lets others change the chain only between two blocks. */
export interface Miner {
  /** Runs an action between two blocks. */
  between<T>(action: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

/** Takes over from the node, which loses blocks when it mines by itself during a reorganization. */
export async function startMiner({ provider }: { provider: JsonRpcApiProvider }): Promise<Miner> {
  await provider.send('evm_setAutomine', [false])
  await provider.send('evm_setIntervalMining', [0])
  let stopped = false
  let last: Promise<unknown> = Promise.resolve()

  function between<T>(action: () => Promise<T>): Promise<T> {
    const done = last.then(action)
    last = done.catch(() => undefined)
    return done
  }

  async function mine(): Promise<void> {
    while (!stopped) {
      await between(() => provider.send('evm_mine', []))
      await sleep(BLOCK_SECONDS * 1_000)
    }
  }

  const mining = mine()
  return {
    between,
    async stop() {
      stopped = true
      await mining
    },
  }
}

/** Carries out the planned faults of the chain. */
export interface ChainFaults {
  /** Marks the state that {@link reset} leads back to. */
  begin(): Promise<void>
  /** Restores the chain as it was at the beginning. */
  reset(): Promise<void>
  /**
   * Opens the nonce below the server's next transaction: uses the key elsewhere, and takes that block back once the server
   * has sent.
   * @param give makes the server send
   */
  openNonce(give: () => void): Promise<void>
  /** Called for every transaction that passes, as these time the faults. */
  afterSend(): Promise<void>
  struck(): Record<string, number>
  /** Whether everything that was planned has struck. */
  isCalm(): boolean
  calm(): void
}

/** A chain, and the private keys that its relayers send with. */
export interface RelayedChain {
  readonly provider: JsonRpcApiProvider
  readonly chainId: number
  readonly keys: readonly string[]
}

const LOOK_MS = 20
const GWEI = 1_000_000_000n
/** Above everything that the relay offers, so that it takes the nonce. */
const OUTSIDE_PRICE = 1_000n * GWEI
const ELSEWHERE = '0x000000000000000000000000000000000000dEaD'
const poolSchema = z.object({
  pending: z.record(z.string(), z.record(z.string(), z.looseObject({ hash: z.string() }))),
})

export function createChainFaults(
  chain: RelayedChain,
  miner: Miner,
  plan: Pick<NodeFaults, 'chain'>,
): ChainFaults {
  const queue = createFaultQueue('chain', plan.chain)
  const { provider } = chain
  const keys = chain.keys.map((key) => createOutsideKey(chain, key))
  const [key] = keys
  if (key === undefined) throw new Error('no relayer has a key')
  const actions = createActions(provider, keys)
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

type OutsideKey = ReturnType<typeof createOutsideKey>

/** A relayer's key, in other hands. */
function createOutsideKey({ provider, chainId }: RelayedChain, privateKey: string) {
  const key = new Wallet(privateKey)
  const { address } = key

  const count = (tag: 'latest' | 'pending') => provider.getTransactionCount(address, tag)

  /** The transaction's hash, undefined when there was no occasion. */
  async function use(tag: 'latest' | 'pending'): Promise<string | undefined> {
    const [nonce, ahead] = await Promise.all([count(tag), count('pending')])
    if (tag === 'latest' && nonce === ahead) return undefined
    const raw = await key.signTransaction({
      to: ELSEWHERE,
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
  return { address, use, count }
}

function createActions(
  provider: JsonRpcApiProvider,
  keys: readonly OutsideKey[],
): Record<ChainFault, Action> {
  /** The first key for which there is an occasion. */
  async function useOne(tag: 'latest' | 'pending'): Promise<boolean> {
    for (const key of keys) if ((await key.use(tag)) !== undefined) return true
    return false
  }

  return {
    async reorg({ amount }) {
      return accepted(provider.send('anvil_reorg', [amount, []]))
    },
    async dropped({ amount }) {
      const { pending } = poolSchema.parse(await provider.send('txpool_content', []))
      const own = Object.entries(pending).filter(([account]) =>
        keys.some(({ address }) => sameAddress(address, account)),
      )
      const hashes = own.flatMap(([, byNonce]) => Object.values(byNonce).map(({ hash }) => hash))
      const hash = hashes[amount % hashes.length]
      return hash !== undefined && accepted(provider.send('anvil_dropTransaction', [hash]))
    },
    async 'base-fee'({ amount }) {
      const fee = `0x${(BigInt(amount) * GWEI).toString(16)}`
      return accepted(provider.send('anvil_setNextBlockBaseFeePerGas', [fee]))
    },
    'outside-next': () => useOne('pending'),
    'outside-replaces': () => useOne('latest'),
  }
}

async function accepted(answer: Promise<unknown>): Promise<boolean> {
  return answer.then(
    () => true,
    () => false,
  )
}
