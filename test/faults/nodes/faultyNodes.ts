import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Transaction } from 'ethers'
import { createFaultQueue, type FaultQueue } from './faultQueue.js'
import {
  type Call,
  callsSchema,
  createTrueNode,
  createUnwanted,
  type TrueNode,
  type Unwanted,
  withoutBaseFee,
} from './node.js'
import { NODES, type NodeFaults, type ReadFault, type SendFault, type Spell } from './plan.js'
import { applies, createSpells, faithful, type Reply, TREATMENTS } from './treatments.js'

/** Nodes between a server and the real node, each with the planned faults. */
export interface FaultyNodes {
  readonly urls: readonly string[]
  requests(): number
  struck(): Record<string, number>
  /** Whether everything that was planned has struck. */
  isCalm(): boolean
  /** Passes the real node's answers on unchanged from now on. */
  calm(): void
  stop(): Promise<void>
}

export interface FaultyNodesOptions {
  readonly target: string
  readonly plan: Omit<NodeFaults, 'chain'>
  readonly onlooker: Onlooker
  readonly isLegacy: boolean
  /** Default: those of one server. */
  readonly count?: number
}

/** A fault that is due strikes the node that is asked next. */
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

/** Watches transactions on their way. */
export interface Onlooker {
  /** The server has sent it; the node has not heard of it. */
  leaves(transaction: Transaction): void
  /** The node has heard of it, unless the plan is against it. The server's answer waits for this. */
  passed(): Promise<void>
  /** The server broke a rule. */
  mistook(words: string): void
}

interface FaultyNodeOptions {
  readonly node: TrueNode
  readonly reads: FaultQueue<ReadFault>
  readonly sends: FaultQueue<SendFault>
  readonly spells: FaultQueue<Spell>
  readonly unwanted: Unwanted
  readonly onlooker: Onlooker
}

async function startFaultyNode(options: FaultyNodeOptions) {
  const { node, reads, sends, unwanted, onlooker } = options
  const spells = createSpells(options.spells, onlooker.mistook)
  let requests = 0

  function treat(calls: readonly Call[], isSend: boolean): Promise<Reply> {
    return spells.treat(node, calls, isSend) ?? (isSend ? treatSend(calls) : treatRead(calls))
  }

  function treatRead(calls: readonly Call[]): Promise<Reply> {
    const fault = reads.next((kind) => applies(kind, calls))
    return fault === undefined ? faithful(node, calls) : TREATMENTS[fault.kind](node, calls, fault.amount)
  }

  function treatSend(calls: readonly Call[]): Promise<Reply> {
    const fault = sends.next((kind) => kind !== 'unwanted' || unwanted.canChoose(calls))
    if (fault === undefined) return faithful(node, calls)
    if (fault.kind !== 'unwanted') return TREATMENTS[fault.kind](node, calls, fault.amount)
    unwanted.choose(calls)
    return faithful(node, calls)
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const calls = callsSchema.parse(JSON.parse(await text(request)))
    const transactions = transactionsIn(calls)
    requests++
    for (const transaction of transactions) onlooker.leaves(transaction)
    const reply = await treat(calls, transactions.length > 0)
    for (const _ of transactions) await onlooker.passed()
    give(reply, request, response)
  }

  const server = createServer((request, response) => {
    void handle(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the faulty node has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests: () => requests,
    calm: spells.end,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function transactionsIn(calls: readonly Call[]): Transaction[] {
  return calls
    .filter(({ method }) => method === 'eth_sendRawTransaction')
    .map(({ params }) => Transaction.from(String(params[0])))
}

function give(reply: Reply, request: IncomingMessage, response: ServerResponse): void {
  if (reply === 'silence') return
  if (reply === 'cut') {
    request.socket.destroy()
    return
  }
  response.setHeader('content-type', 'application/json')
  if ('half' in reply) {
    response.write(reply.half)
    return
  }
  response.statusCode = reply.status
  response.end(reply.body)
}
