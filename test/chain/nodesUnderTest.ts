import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { createRpc } from '../../src/chain/rpc.js'
import { startHttpServer } from '../support/httpServer.js'

export const CHAIN_ID = 31_337
export const WHO = [{ method: 'who', params: [] }]
const LIMIT = { code: -32_005, message: 'daily request count exceeded' }
const callsSchema = z.array(z.object({ id: z.int(), method: z.string() }))

export type Manner = 'well' | '429' | '500' | '503' | '400' | '413' | 'garbage' | 'silent' | 'limited'

/** Nodes that behave as told, at a time in the test's hand. */
export function useNodes() {
  let now = 0
  beforeEach(() => {
    now = 1_000
    vi.spyOn(performance, 'now').mockImplementation(() => now)
  })
  afterEach(() => void vi.restoreAllMocks())

  /** A node that says its name when asked who it is, and remembers what it was asked. */
  async function startNode(name: string, changes: { manner?: Manner; chainId?: number; head?: number } = {}) {
    const node = {
      ...{ manner: 'well', chainId: CHAIN_ID, head: 100, hasHead: true, retryAfter: '', url: '', ...changes },
      /** Calls that it takes in one request, and how it refuses more. */
      ...{ most: Number.POSITIVE_INFINITY, refusal: { status: 400, body: 'too many calls' } },
      ...{ asked: [] as string[], sizes: [] as number[] },
    }
    const answersTo = (calls: z.output<typeof callsSchema>) =>
      calls.map(({ id, method }) => {
        if (node.manner === 'limited') return { id, error: LIMIT }
        if (method === 'eth_chainId') return { id, result: `0x${node.chainId.toString(16)}` }
        if (method !== 'eth_blockNumber') return { id, result: name }
        return { id, result: node.hasHead ? `0x${node.head.toString(16)}` : null }
      })
    const server = await startHttpServer(async (request, response) => {
      const calls = callsSchema.parse(JSON.parse(await text(request)))
      node.asked.push(...calls.map(({ method }) => method))
      node.sizes.push(calls.length)
      if (node.manner === 'silent') return
      if (node.manner === 'garbage') return response.end('<html>')
      if (calls.length > node.most) return response.writeHead(node.refusal.status).end(node.refusal.body)
      if (node.retryAfter !== '') response.setHeader('Retry-After', node.retryAfter)
      response.writeHead(Number(node.manner) || 200).end(JSON.stringify(answersTo(calls)))
    })
    onTestFinished(server.stop)
    node.url = server.url
    return node
  }

  type Node = Awaited<ReturnType<typeof startNode>>

  function transportOf(...nodes: Node[]) {
    const changes: [node: number, fault: string | null][] = []
    const requests: [node: number, answers: number | null, durationMs: number][] = []
    const transport = createRpc({
      ...{ urls: nodes.map(({ url }) => url), timeoutMs: 1_000, chainId: CHAIN_ID },
      onNodeChange: (node, fault) => changes.push([node, fault]),
      onRequest: (node, answers, durationMs) => requests.push([node, answers?.length ?? null, durationMs]),
    })
    const ask = async () => {
      const [answer] = await transport.send(WHO)
      return answer && 'result' in answer ? answer.result : undefined
    }
    return { transport, changes, requests, ask }
  }

  return {
    startNode,
    transportOf,
    pass(ms: number): void {
      now += ms
    },
  }
}
