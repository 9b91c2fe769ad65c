import { createFaultQueue } from './faultQueue.js'
import { type Onlooker, startFaultyNode } from './faultyNode.js'
import { withoutBaseFee } from './legacyNode.js'
import { createTrueNode } from './node.js'
import { NODES, type Plan } from './plan.js'
import { createUnwanted } from './unwanted.js'

/** Stand between the server and the node, each as a node of its own, and do what the plan says. */
export interface FaultyNodes {
  readonly urls: readonly string[]
  requests(): number
  struck(): Record<string, number>
  /** Whether everything that was planned has struck. */
  isCalm(): boolean
  /** From now on the node's answers come as they are. */
  calm(): void
  stop(): Promise<void>
}

export interface FaultyNodesOptions {
  readonly target: string
  readonly plan: Pick<Plan, 'reads' | 'sends' | 'spells'>
  readonly onlooker: Onlooker
  readonly isLegacy: boolean
  /** How many there are. Default: those of one server. */
  readonly count?: number
}

/** What is due strikes the one that is asked next. */
export async function startFaultyNodes(options: FaultyNodesOptions): Promise<FaultyNodes> {
  const { target, plan, onlooker, isLegacy, count = NODES } = options
  const reads = createFaultQueue('read', plan.reads)
  const sends = createFaultQueue('send', plan.sends)
  const spells = createFaultQueue('spell', plan.spells)
  const unwanted = createUnwanted()
  const shown = isLegacy ? withoutBaseFee(createTrueNode(target)) : createTrueNode(target)
  const node = unwanted.around(shown)
  const nodes = await Promise.all(
    Array.from({ length: count }, () => startFaultyNode({ node, reads, sends, spells, unwanted, onlooker })),
  )
  const queues = [reads, sends, spells]
  return {
    urls: nodes.map(({ url }) => url),
    requests: () => nodes.reduce((sum, { requests }) => sum + requests(), 0),
    struck: () => ({ ...reads.struck(), ...sends.struck(), ...spells.struck() }),
    isCalm: () => queues.every((queue) => queue.isEmpty()),
    calm() {
      for (const queue of queues) queue.end()
      for (const one of nodes) one.calm()
    },
    async stop() {
      await Promise.all(nodes.map(({ stop }) => stop()))
    },
  }
}
