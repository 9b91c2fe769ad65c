import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Transaction } from 'ethers'
import type { FaultQueue } from './faultQueue.js'
import type { ReadFault, SendFault, Spell } from './kinds.js'
import { type Call, callsSchema, type TrueNode } from './node.js'
import { applies, faithful, type Reply, TREATMENTS } from './rpcFaults.js'
import { createSpells } from './spells.js'
import type { Unwanted } from './unwanted.js'

/** Who looks on while transactions pass. */
export interface Onlooker {
  /** The server has let go of it; the node has not heard of it. */
  leaves(transaction: Transaction): void
  /** The node has heard of it, unless the plan is against it; the server does not know. The answer waits for this. */
  passed(): Promise<void>
  /** The server did what it must not do. */
  mistook(words: string): void
}

/** One node, as the server sees it. */
export interface FaultyNode {
  readonly url: string
  requests(): number
  /** It is under no spell any more. */
  calm(): void
  stop(): Promise<void>
}

export interface FaultyNodeOptions {
  readonly node: TrueNode
  readonly reads: FaultQueue<ReadFault>
  readonly sends: FaultQueue<SendFault>
  readonly spells: FaultQueue<Spell>
  readonly unwanted: Unwanted
  readonly onlooker: Onlooker
}

export async function startFaultyNode(options: FaultyNodeOptions): Promise<FaultyNode> {
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
      new Promise((resolve) => {
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
