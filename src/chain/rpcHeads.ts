import { smallQuantitySchema } from './quantity.js'
import type { RpcNode } from './rpcNode.js'

/** Between two comparisons. */
const INTERVAL_MS = 5_000
/** Blocks that a node may be behind for as long as it likes. */
const TOLERATED_BLOCKS = 2
/** A node that is further behind for this long is set aside. */
const PATIENCE_MS = 10_000

/**
 * Compares the nodes' heads beside the traffic, so that a node that stands still is noticed although each of its answers
 * is well-formed, and one that answers without a head while another has one. It is held against where another one was
 * at the comparison before: heads that are asked for side by side differ on a quick chain, whose blocks come faster than
 * answers.
 *
 * @returns to be called with each request; nobody waits for it
 */
export function createHeadComparison(nodes: readonly RpcNode[]): () => void {
  const behindSince = new Map<RpcNode, number>()
  let comparedAt = performance.now()
  let highestBefore = 0

  function judge(node: RpcNode, isBehind: boolean): void {
    if (!isBehind) behindSince.delete(node)
    else if (!behindSince.has(node)) behindSince.set(node, performance.now())
    const since = behindSince.get(node)
    if (since === undefined) node.trails(false)
    else if (performance.now() - since >= PATIENCE_MS) node.trails(true)
  }

  async function compare(): Promise<void> {
    const answering = nodes.filter((node) => node.fault() === null || node.fault() === 'behind')
    const found = await Promise.all(answering.map(async (node) => ({ node, head: await headOf(node) })))
    const answered = found.filter(({ head }) => head !== 'no-answer')
    const heads = answered.flatMap(({ head }) => (typeof head === 'number' ? [head] : []))
    // One alone is behind nobody, and does not catch up with anybody either.
    if (answered.length < 2 || heads.length === 0) return
    const expected = highestBefore - TOLERATED_BLOCKS
    // Not the highest ever: on a chain that was reset that would be out of reach.
    highestBefore = Math.max(...heads)
    for (const { node, head } of answered) judge(node, typeof head !== 'number' || head < expected)
  }

  return () => {
    if (nodes.length < 2 || performance.now() - comparedAt < INTERVAL_MS) return
    comparedAt = performance.now()
    void compare()
  }
}

/** Something that is no number comes from a node that has lost its chain: it is behind whoever has one. */
async function headOf(node: RpcNode): Promise<number | 'no-number' | 'no-answer'> {
  const found = await node.send([{ method: 'eth_blockNumber', params: [] }])
  if (found === null) return 'no-answer'
  const [answer] = found.answers
  const result = answer && 'result' in answer ? answer.result : undefined
  return smallQuantitySchema.safeParse(result).data ?? 'no-number'
}
