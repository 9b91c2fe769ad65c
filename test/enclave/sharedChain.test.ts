// Reads of the chain that the runs of one process share, counted at the node.
import { expect, it, vi } from 'vitest'
import { ChainUnavailableError } from '../../src/chain/errors.js'
import { createSharedChain, type SharedChain } from '../../src/enclave/chainState.js'
import { systemClock } from '../../src/enclave/clock.js'
import { ZERO_BYTES32 } from '../../src/protocol/hex.js'
import { useChain } from '../support/chain.js'
import { handled } from '../support/handled.js'
import { rpcOf, tappedRpc } from '../support/tappedRpc.js'

const chain = useChain()
const RUNS = 100
const DIGEST = `0x${'11'.repeat(32)}` as const

/** A node that counts what it is sent, and can be down. */
function countedNode() {
  const node = {
    sent: [] as string[],
    requests: 0,
    isDown: false,
    count: (method: string) => node.sent.filter((sent) => sent === method).length,
  }
  const rpc = tappedRpc(rpcOf(chain()), async (calls, send) => {
    node.requests++
    for (const { method } of calls) node.sent.push(method)
    if (node.isDown) throw new ChainUnavailableError(1)
    return send()
  })
  return { node, rpc }
}

function start() {
  const { node, rpc } = countedNode()
  const { chainId } = chain().anvil
  const { addresses } = chain()
  const options = { depth: 0, maxHeadAgeMs: Number.MAX_SAFE_INTEGER, pollMs: 10, clock: systemClock }
  return { node, shared: createSharedChain({ rpc, chainId, addresses, ...options }) }
}

function eachOf<T>(shared: SharedChain, act: (run: ReturnType<SharedChain['forRun']>) => Promise<T>) {
  return Promise.all(Array.from({ length: RUNS }, () => act(shared.forRun())))
}

const mine = () => chain().provider.send('anvil_mine', ['0x1'])

it('a hundred runs that wait for a block look at it together, and ask for a digest at it once', async () => {
  const { node, shared } = start()
  await eachOf(shared, (run) => run.look())
  expect(node.count('eth_getBlockByNumber')).toBe(1)
  await mine()
  const used = await eachOf(shared, async (run) => {
    const { head } = await run.lookLater()
    return run.isUsed('PortfolioUpdate', DIGEST, head)
  })
  expect(used).toEqual(Array(RUNS).fill(false))
  expect(node.count('eth_getBlockByNumber')).toBe(2)
  expect(node.count('eth_call')).toBe(1)
})

it('a look that began before the question is not its answer', async () => {
  const { node, shared } = start()
  const run = shared.forRun()
  const early = handled(run.look())
  // The request is under way now.
  await vi.waitUntil(() => node.requests > 0)
  await mine()
  const late = await run.look()
  expect(late.head.number).toBeGreaterThanOrEqual((await early).head.number)
  expect(late.head.number).toBe(await chain().provider.getBlockNumber())
  expect(node.count('eth_getBlockByNumber')).toBe(2)
})

it('a chain that is shorter than it was clears what is shared, fails a look, and is followed from there', async () => {
  const { node, shared } = start()
  const snapshot = await chain().provider.send('evm_snapshot', [])
  await mine()
  const run = shared.forRun()
  const { head } = await run.look()
  await run.escrow.orders(ZERO_BYTES32, head.hash)
  await chain().provider.send('evm_revert', [snapshot])
  await expect(shared.forRun().look()).rejects.toThrow('shorter')
  const after = await shared.forRun().look()
  expect(after.head.number).toBe(head.number - 1)
  // A run that has seen the longer chain does not go on with the shorter one.
  await expect(run.look()).rejects.toThrow('lags behind')
  const before = node.count('eth_call')
  await expect(run.escrow.orders(ZERO_BYTES32, head.hash)).rejects.toThrow()
  expect(node.count('eth_call')).toBe(before + 1)
})

it('a failure is shared by the runs that asked, and not kept for later ones', async () => {
  const { node, shared } = start()
  node.isDown = true
  const looks = await Promise.allSettled([shared.forRun().look(), shared.forRun().lookLater()])
  expect(looks.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  node.isDown = false
  const run = shared.forRun()
  const { head } = await run.look()
  node.isDown = true
  await expect(run.escrow.orders(ZERO_BYTES32, head.hash)).rejects.toThrow(ChainUnavailableError)
  node.isDown = false
  expect((await run.escrow.orders(ZERO_BYTES32, head.hash)).state).toBe('NONE')
})
