import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Transaction } from 'ethers'
import { createFaultQueue } from './faultQueue.js'
import { type Call, callsSchema, createTrueNode } from './node.js'
import type { Plan } from './plan.js'
import { applies, faithful, type Reply, TREATMENTS } from './rpcFaults.js'

/** Who looks on while transactions pass. */
export interface Onlooker {
  /** The server has let go of it; the node has not heard of it. */
  leaves(transaction: Transaction): void
  /** The node has heard of it, unless the plan is against it; the server does not know. The answer waits for this. */
  passed(): Promise<void>
}

/** Stands between the server and the node, and does what the plan says. */
export interface FaultyNode {
  readonly url: string
  requests(): number
  struck(): Record<string, number>
  /** Whether everything that was planned has struck. */
  isCalm(): boolean
  /** From now on the node's answers come as they are. */
  calm(): void
  stop(): Promise<void>
}

export async function startFaultyNode(
  target: string,
  plan: Pick<Plan, 'reads' | 'sends'>,
  onlooker: Onlooker,
): Promise<FaultyNode> {
  const node = createTrueNode(target)
  const reads = createFaultQueue('read', plan.reads)
  const sends = createFaultQueue('send', plan.sends)
  let requests = 0

  function treat(calls: readonly Call[], isSend: boolean): Promise<Reply> {
    const fault = isSend ? sends.next() : reads.next((kind) => applies(kind, calls))
    return fault === undefined ? faithful(node, calls) : TREATMENTS[fault.kind](node, calls, fault.amount)
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
    isCalm: () => reads.isEmpty() && sends.isEmpty(),
    struck: () => ({ ...reads.struck(), ...sends.struck() }),
    calm() {
      reads.end()
      sends.end()
    },
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
