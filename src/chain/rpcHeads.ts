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
 * is well-formed. It is held against where another one was at the comparison before: heads that are asked for side
 * by side differ on a quick chain, whose blocks come faster than answers.
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
    const heads = found.flatMap(({ node, head }) => (head === undefined ? [] : [{ node, head }]))
    // One alone is behind nobody, and does not catch up with anybody either.
    if (heads.length < 2) return
    const highest = Math.max(...heads.map(({ head }) => head))
    const expected = highestBefore - TOLERATED_BLOCKS
    // Not the highest ever: on a chain that was reset that would be out of reach.
    highestBefore = highest
    for (const { node, head } of heads) judge(node, head < expected)
  }

  return () => {
    if (nodes.length < 2 || performance.now() - comparedAt < INTERVAL_MS) return
    comparedAt = performance.now()
    void compare()
  }
}

async function headOf(node: RpcNode): Promise<number | undefined> {
  const found = await node.send([{ method: 'eth_blockNumber', params: [] }])
  const answer = found?.answers[0]
  return smallQuantitySchema.safeParse(answer && 'result' in answer ? answer.result : undefined).data
}
